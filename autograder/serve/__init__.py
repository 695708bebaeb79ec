"""The live class: students hand in and hear in a second; the lecturer sees what the room misunderstands."""
