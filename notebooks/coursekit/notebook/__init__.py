"""What a lab's cells show: cards, progress, verdicts."""
