"""The trusted end: launches sandboxes, sends them requests, and checks everything that comes back."""
