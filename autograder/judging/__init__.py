"""Runs hidden tests on an answer, and limits what their messages may tell a student."""
