"""The trusted end: starts sandboxes, speaks with them, and believes nothing that they say."""
