"""Demos of the lectures, one for each idea. ``from coursekit.demos.widget import show`` shows one in a cell."""
