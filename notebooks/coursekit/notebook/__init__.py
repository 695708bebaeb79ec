"""Output of a lab's cells: cards, progress, verdicts."""
