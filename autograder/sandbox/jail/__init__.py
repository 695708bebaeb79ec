"""Makes the isolated process in which a student's code runs, and its read-only root filesystem."""
