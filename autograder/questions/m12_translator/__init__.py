"""Questions of lab 12, one file each."""
