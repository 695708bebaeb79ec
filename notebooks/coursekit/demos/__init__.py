"""Lecture demos: one module a demo, each a function that draws and the controls that move it."""
