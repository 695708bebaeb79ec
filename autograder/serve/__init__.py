"""The live class: students hand in and get a verdict within seconds; the lecturer sees the room's misconceptions."""
