"""The trust boundary: how a student's code runs in a jail, and how plain values get in and out."""
