"""The trust boundary: how a student's code is run in a jail and how plain values cross its wall."""
