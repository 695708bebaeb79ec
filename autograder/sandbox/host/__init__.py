"""The trusted side of the sandbox: launches children, sends them requests, and checks all replies."""
