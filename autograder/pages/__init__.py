"""Pages that people read: feedback, the class report, and what they are made with."""
