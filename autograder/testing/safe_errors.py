"""Reduces an error in a student's code to parts that cannot contain a hidden input.

The report of an error comes from the student's process, which knows the hidden inputs, so it is not shown unchanged. The
innermost source line is shown if the notebook has that line. The error's name is shown if Python or a library has an error
of that name. The message is shown if it has a known form, without numbers and without names that are not in the shown lines.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Sequence

from autograder.sandbox.host.rpc import StudentError

#: Errors that libraries raise in students' code.
_OF_LIBRARIES = (
    "AxisError LinAlgError UFuncTypeError UFuncNoLoopError _UFuncNoLoopError _ArrayMemoryError OutOfMemoryError "
    "DTypePromotionError ComplexWarning VisibleDeprecationWarning RankWarning JSONDecodeError UndefinedVariableError "
    "InvalidIndexError BrokenBarrierError"
)
NAMES = frozenset(
    {
        name
        for name, kind in vars(builtins).items()
        if isinstance(kind, type) and issubclass(kind, BaseException)
    }
    | set(_OF_LIBRARIES.split())
)
_RETURNED_BY_MISTAKE = (
    "function builtin_function_or_method method generator module type object map zip filter NoneType "
    "property range_iterator list_iterator staticmethod classmethod partial ndarray numpy.ndarray "
    "numpy.matrix numpy.ma.MaskedArray numpy.datetime64 numpy.timedelta64 torch.Tensor torch.Size "
    "torch.dtype torch.nn.parameter.Parameter pandas.DataFrame pandas.Series matplotlib.figure.Figure "
    "datetime.datetime types.SimpleNamespace functools.partial"
)
#: Types that students return by mistake. The name of any other type is not shown.
TYPES = frozenset(_RETURNED_BY_MISTAKE.split())

#: A student's line is shown if it is among the notebook's first ``MAX_LINES``; its first ``MAX_OWN_WORDS`` words may be named.
#: Both limit what a student's code can put on a page: see docs/security.md.
MAX_LINES = 1024
MAX_OWN_WORDS = 16

_NUMBERS = r"(?:[\d()\[\], .*+-]|(?<=\d)x(?=\d)| and )*"
_QUOTED = r"'[^']*'"
#: The forms of Python's, NumPy's and PyTorch's messages, with # for numbers and ' for a quoted name.
_FORMS = (
    "unsupported operand type(s) for @: ' and '",
    "unsupported operand type(s) for @",
    "name ' is not defined",
    "name ' is not defined. Did you mean: '?",
    "name ' is not defined. Did you forget to import '?",
    "cannot access local variable ' where it is not associated with a value",
    "cannot access free variable ' where it is not associated with a value in enclosing scope",
    "local variable ' referenced before assignment",
    "' object has no attribute '",
    "' object has no attribute '. Did you mean: '?",
    "module ' has no attribute '",
    "module ' has no attribute '. Did you mean: '?",
    "' object is not callable",
    "' object is not iterable",
    "' object is not subscriptable",
    "' object does not support item assignment",
    "' object cannot be interpreted as an integer",
    "'@' not supported between instances of ' and '",
    "cannot unpack non-iterable ' object",
    "object of type ' has no len()",
    "argument of type ' is not iterable",
    "unhashable type: '",
    "string indices must be integers, not '",
    "list indices must be integers or slices, not @",
    "tuple indices must be integers or slices, not @",
    "can only concatenate str (not \"@\") to str",
    "can only concatenate list (not \"@\") to list",
    "list index out of range",
    "tuple index out of range",
    "string index out of range",
    "list assignment index out of range",
    "pop from empty list",
    "division by zero",
    "float division by zero",
    "integer division or modulo by zero",
    "math domain error",
    "maximum recursion depth exceeded",
    "maximum recursion depth exceeded in comparison",
    "maximum recursion depth exceeded while calling a Python object",
    "not enough values to unpack (expected #, got #)",
    "not enough values to unpack (expected at least #, got #)",
    "too many values to unpack (expected #)",
    "@() missing # required positional argument: '",
    "@() missing # required positional arguments: ' and '",
    "@() takes # positional arguments but # were given",
    "@() takes # positional argument but # were given",
    "@() got an unexpected keyword argument '",
    "index # is out of bounds for axis # with size #",
    "index # is out of bounds for dimension # with size #",
    "too many indices for array: array is #-dimensional, but # were indexed",
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices",
    "only integer scalar arrays can be converted to a scalar index",
    "only length-1 arrays can be converted to Python scalars",
    "operands could not be broadcast together with shapes #",
    "operands could not be broadcast together with remapped shapes [original->remapped]: #",
    "could not broadcast input array from shape # into shape #",
    "shapes # and # not aligned: # (dim #) != # (dim #)",
    "cannot reshape array of size # into shape #",
    "axis # is out of bounds for array of dimension #",
    "axes don't match array",
    "setting an array element with a sequence.",
    "setting an array element with a sequence. The requested array has an inhomogeneous shape after # dimensions. "
    "The detected shape was # + inhomogeneous part.",
    "all the input arrays must have same number of dimensions, but the array at index # has # dimension(s) and the array "
    "at index # has # dimension(s)",
    "all the input array dimensions except for the concatenation axis must match exactly, but along dimension #, the array "
    "at index # has size # and the array at index # has size #",
    "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
    "Boolean value of Tensor with more than one value is ambiguous",
    "boolean index did not match indexed array along axis #; size of axis is # but size of corresponding boolean axis is #",
    "matmul: Input operand # has a mismatch in its core dimension #, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size # is different from #)",
    "matmul: Input operand # does not have enough dimensions (has #, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires #)",
    "mat1 and mat2 shapes cannot be multiplied (#)",
    "The size of tensor a (#) must match the size of tensor b (#) at non-singleton dimension #",
    "shape ' is invalid for input of size #",
    "Expected all tensors to be on the same device",
    "expected scalar type @ but found @",
    "element # of tensors does not require grad and does not have a grad_fn",
    "a leaf Variable that requires grad is being used in an in-place operation.",
    "probabilities do not sum to #",
    "probabilities contain NaN",
    "Probabilities contain NaN",
    "probabilities are not non-negative",
    "Probabilities are not non-negative",
    "Probabilities do not sum to #. See Notes section of docstring for more information.",
    "'a' and 'p' must have same size",
    "a must be greater than 0 unless no samples are taken",
    "high <= low",
    "zero-size array to reduction operation @ which has no identity",
    "can't multiply sequence by non-int of type '",
    "'NoneType' object is not callable",
)  # fmt: skip


def _pattern(form: str) -> re.Pattern[str]:
    """The form as a regular expression: # matches numbers and shapes, ' a quoted word, @ a bare word."""
    slots = {"#": f"({_NUMBERS})", "'": f"({_QUOTED})", "@": r"([\w.+*/@%<>=&|^~-]{1,40})"}
    parts = re.split(r"(#|'(?![a-zA-Z@`])|@)", form)
    return re.compile("".join(slots.get(part, re.escape(part)) for part in parts))


_PATTERNS = tuple(_pattern(form) for form in _FORMS)
_OPERATORS = frozenset("+ - * / // % @ ** < > <= >= == != & | ^ ~ += -= *= /= @=".split())  # noqa: SIM905
_COMMON_TYPES = frozenset(
    "int float str list tuple dict set NoneType bool numpy.ndarray function Tensor generator".split()  # noqa: SIM905
)


def safe_error(error: StudentError | None, cells: Sequence[tuple[str, str]]) -> str:
    """The error with the student's line that raised it; "" for no error. ``cells`` are (label, source) of the run cells."""
    if error is None:
        return ""
    place, line = _innermost_line(error, cells)
    message = safe_message(error.message, line)
    name = safe_name(error.type_name, NAMES, "an error of your own")
    return "\n".join([*([f"{place}: {line}"] if line else []), f"{name}: {message}" if message else name])


def _innermost_line(error: StudentError, cells: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Place and text of the innermost frame's line that is in the notebook; empty if there is none."""
    known = [
        (label, number, line.strip())
        for label, source in cells
        for number, line in enumerate(source.split("\n"), start=1)
        if line.strip()
    ][:MAX_LINES]
    lines = {(label, number): line[:300] for label, number, line in known}
    for frame in reversed(error.frames):
        line = lines.get((frame.cell, frame.line), "")
        if line and line == frame.source.strip()[:300]:
            return f"in {frame.cell}, line {frame.line}", line
    return "", ""


def safe_name(name: str, allowed: Collection[str], otherwise: str) -> str:
    """A name from the student's process if it is ``allowed``, or else the fixed phrase ``otherwise``.

    Only fixed vocabularies and names that the trusted side sent are allowed. The student could choose any other name, so it
    could be a hidden input.
    """
    return name if name in allowed else otherwise


def safe_message(message: str, shown: str) -> str:
    """The message in its known form: without numbers, with common types and operators, and with at most one name from the
    line ``shown``; "" if the form is unknown.
    """
    line = " ".join(message.split())[:400]
    words = [part for word in re.findall(r"[\w.]+", shown) for part in {word: 0, word.partition(".")[0]: 0}]
    own = set(words[:MAX_OWN_WORDS])

    def shown_slot(slot: str) -> str:
        inner = slot.strip("'")
        if inner in _OPERATORS or inner in _COMMON_TYPES:
            return slot
        if inner in own:
            own.clear()
            return slot
        return "'…'" if slot.startswith("'") else "…" if slot.strip() else slot

    for pattern in _PATTERNS:
        if match := pattern.fullmatch(line):
            parts, end = [], 0
            for number in range(1, (pattern.groups or 0) + 1):
                parts += [line[end : match.start(number)], shown_slot(match[number])]
                end = match.end(number)
            return "".join([*parts, line[end:]])
    return ""
