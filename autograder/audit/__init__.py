"""Checks the hidden tests with misconceptions and alternatives, and makes simulated classes."""
