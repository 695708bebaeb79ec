"""The course's questions: one file describes a question; ``engine`` makes its tests, names, points and card of it."""
