"""Writes pages for people: feedback and reports, with the helpers that both use."""
