"""Checks the hidden tests with misconceptions, alternatives and mutants, and makes simulated classes."""
