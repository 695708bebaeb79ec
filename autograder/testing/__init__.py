"""The decorators that the file of an imported lab's test cells imports; ``autograder import`` writes such files.

from autograder.testing import hidden_test, moved_cell

@hidden_test("squares")
@moved_cell
def test_squares(student):
    '''The squares of the first numbers.'''
    squares = student.function("squares")
    assert squares(2) == [1, 4]
"""

from autograder.testing.moved_cell import moved_cell
from autograder.testing.run import hidden_test

__all__ = ["hidden_test", "moved_cell"]
