"""The class's learning system by its own interface: what was handed in comes here, what it is worth goes back.

``pull`` and ``push`` are the same for every system; ``moodle``, ``canvas`` and ``github`` say how each is asked.
"""
