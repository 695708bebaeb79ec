"""Demos of the lectures, one for each idea: ``from coursekit.demos.widget import show`` puts one into a cell."""
