"""Public checks, one file a lab."""
