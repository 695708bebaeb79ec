"""Uses the API of the class's learning system: fetches submissions and sends grades.

``pull`` and ``push`` work with every system; ``moodle``, ``canvas`` and ``github`` are the systems.
"""
