"""The wire format carries plain values unchanged, refuses the rest, and survives any bytes."""

import array
import collections
import enum
import gc
import itertools
import json
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from autograder.sandbox import wire
from autograder.sandbox.host.student import Handle
from autograder.sandbox.wire import OpaqueError, Reference, WireError

#: Values of each type, on both sides of what stands in the header itself.
PLAIN = (
    None, True, 0, -(2**62), 2**63, -(10**40), 1.5, -0.0, float("nan"), 1 - 2j, "", "ä\ud800", "x" * 600, b"", b"ab", range(3, -9, -2),
    slice(None, 2), ..., [], [1, [2.5, "a"]], (1, (2,)), {"b": 1, (1, 2): [3]}, {1, "b", 2j}, frozenset({(1, "a"), range(2)}),
)  # fmt: skip
SHAPES = ((), (3,), (2, 0), (2, 3, 2))


def trip(value, **options):
    return wire.decode(wire.encode(value, **options))


def text_of(value):
    """The same for values of one type that are equal, where NaN equals NaN and the order of a dict counts."""
    if type(value) in (set, frozenset):
        return f"{type(value)} {sorted(map(text_of, value))}"
    if type(value) in (list, tuple):
        return f"{type(value)} {[*map(text_of, value)]}"
    if type(value) is dict:
        return f"{type(value)} {text_of([*value.items()])}"
    if isinstance(value, (np.ndarray, torch.Tensor)):
        array = np.asarray(value)
        return f"{type(value)} {array.dtype} {array.shape} {array.tobytes()}"
    return f"{type(value)} {value!r}"


def test_plain_values_arrive_as_they_were():
    for value in (*PLAIN, [*PLAIN]):
        assert text_of(trip(value)) == text_of(value)


def test_arrays_and_tensors_arrive_with_their_type_shape_and_elements():
    codes = ("?", "i1", ">i4", "<u8", "f2", ">f8", "c8", ">c16", "U2", ">U3", "S2")
    for code, shape, argument in itertools.product(codes, SHAPES, (False, True)):
        sent = np.arange(np.prod(shape, dtype=int)).astype(code).reshape(shape)
        arrived = trip(sent, for_arguments=argument)
        assert text_of(arrived) == text_of(sent) and arrived.flags.writeable
    for name, shape in itertools.product(wire.TORCH_DTYPES, SHAPES):
        sent = (torch.rand(shape, dtype=torch.float64) * 3).to(getattr(torch, name))
        arrived = trip(sent)
        assert arrived.dtype is sent.dtype and torch.equal(arrived, sent)
        numbers = wire.decode(wire.encode(sent), tensors_as_arrays=True)
        assert np.array_equal(numbers, (sent.float() if name == "bfloat16" else sent).numpy())


def test_the_layout_and_requires_grad_of_an_argument_are_kept_and_of_a_result_are_not():
    plain = np.arange(24.0).reshape(2, 3, 4)
    orders = {"C": plain, "F": np.asfortranarray(plain), "S": np.repeat(plain, 2, -1)[..., ::2]}
    for order, table in orders.items():
        flags = trip(table, for_arguments=True).flags
        assert (flags.c_contiguous, flags.f_contiguous) == (order == "C", order == "F")
        assert trip(table).flags.c_contiguous
        tensor = torch.nn.Parameter(torch.from_numpy(table))
        argument, result = trip(tensor, for_arguments=True), trip(tensor)
        assert torch.equal(argument, tensor) and torch.equal(result, tensor)
        assert (argument.is_contiguous(), argument.requires_grad) == (order == "C", True)
        assert (result.is_contiguous(), result.requires_grad) == (True, False)


def test_a_generator_travels_as_its_state():
    rng = np.random.default_rng(5)
    rng.integers(10, size=7, dtype=np.int32)
    arrived, again = trip(rng), trip(rng)
    assert (arrived.random(9) == rng.random(9)).all()
    assert (arrived.spawn(1)[0].random(3) == again.spawn(1)[0].random(3)).all()
    generator = torch.Generator().manual_seed(7)
    torch.rand(3, generator=generator)
    arrived = trip(generator)
    assert torch.equal(torch.rand(5, generator=arrived), torch.rand(5, generator=generator))


class Colour(enum.IntEnum):
    RED = 3


class Hostile(np.ndarray):
    def __array_ufunc__(self, *args, **kwargs):
        return True


class HostileTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *args, **kwargs):
        return True


Point = collections.namedtuple("Point", "x y")


def test_subclasses_and_relatives_arrive_as_plain_data():
    numbers = np.dtype("f4"), np.float64(1.5), np.str_("a"), np.bool_(True)
    twins = (bool, int, float, complex, str, np.int32, torch.float32, *numbers)
    for value, plain in (
        (Colour.RED, 3), (Point(1, 2), (1, 2)), (collections.Counter("aab"), {"a": 2, "b": 1}), (torch.Size([2, 3]), (2, 3)),
        (collections.deque([1, 2]), [1, 2]), (zip("ab", [1, 2], strict=True), [("a", 1), ("b", 2)]), (bytearray(b"ab"), b"ab"),
        (np.ones(2).view(Hostile), np.ones(2)), (np.ma.masked_array([1, 2], [True, False]), np.array([1, 2])),
        (torch.ones(2).as_subclass(HostileTensor), torch.ones(2)), *zip(twins, twins, strict=True),
    ):  # fmt: skip
        assert text_of(trip(value)) == text_of(plain)


class Unknown:
    def __repr__(self):
        raise AssertionError("nobody may ask for my repr")


def test_an_array_of_exact_numbers_arrives_as_floats():
    for number in (Fraction(1, 4), Decimal("0.25"), 0.25, np.float32(0.25)):
        for exact in (np.array([[number, 1]], dtype=object), np.array(number, dtype=object)):
            arrived = trip(exact)
            assert arrived.dtype == np.float64 and arrived.shape == exact.shape
            assert arrived.flat[0] == 0.25
    assert trip(np.empty((0, 3), dtype=object)).shape == (0, 3)


class Wrapped:
    """An array in a class of somebody's own."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_whatever_says_that_it_is_an_array_arrives_as_one():
    table = np.array([[0.5, 0.25], [1.0, 2.0]])
    rows = lambda table: [array.array("d", row) for row in table]  # noqa: E731
    for make in (Wrapped, memoryview, pytest.importorskip("pandas").DataFrame, rows):
        for value, wanted in ((make(table), table), ((make(table),), [table])):
            assert np.array_equal(trip(value), wanted)


class Broken(Wrapped):
    def __array__(self, dtype=None, copy=None):
        raise SystemError(self.values)


def test_other_types_are_refused_and_an_error_in_an_iterator_is_its_own():
    for value in (
        *(Unknown(), [Unknown()], np.array([None]), object, lambda: 1, torch.ones(2).to_sparse()),
        *(np.array("2020", "M8[Y]"), np.array([10**400], dtype=object)),
        np.random.Generator(np.random.Philox(0)),
        *(Wrapped(np.array([None])), Wrapped(np.array("2020", "M8[Y]")), Wrapped(3), Broken(0)),
    ):
        with pytest.raises(OpaqueError):
            trip(value)
    with pytest.raises(ZeroDivisionError):
        wire.encode(1 / n for n in (1, 0))
    kind = type("\n<b>é" + "x" * 500, (), {"__module__": 5})
    with pytest.raises(OpaqueError) as caught:
        trip(kind())
    assert caught.value.type_name == "?<b>?" + "x" * 75, "a hostile name is plain text"


def test_references_are_made_and_resolved_by_the_two_ends():
    unknown = Unknown()
    frame = wire.encode({"a": [unknown]}, refer=lambda value: Reference("handle", 7))
    assert wire.decode(frame, resolve=lambda reference: reference) == {"a": [Reference("handle", 7)]}
    with pytest.raises(WireError):
        wire.decode(frame)


CYCLIC: list[object] = []
CYCLIC.append(CYCLIC)


def test_what_is_too_large_is_refused_before_it_is_sent():
    large = [np.zeros(5_000_000), np.zeros(5_000_000)]
    endless = itertools.count()
    for value in (CYCLIC, endless, [None] * 1_000_001, 1 << 20_000, np.zeros(10_000_000), large):
        with pytest.raises(WireError):
            wire.encode(value)


def frame_of(tree, lengths=(), body=b""):
    """A frame with a header of the attacker's choice."""
    header = tree if isinstance(tree, bytes) else json.dumps([tree, list(lengths)]).encode()
    return wire.PREFIX.pack(wire.MAGIC, len(header), len(body)) + header + body


#: Trees that use no buffer; and those that do, with the lengths and the body.
LIES = (
    ["d", ["l"], 1], ["s", ["d"]], ["r", 0, 10**15, 1], ["r", 0, 1, 0], ["r", 0.5, 1, 1], ["I", "f" * 100_000], ["c", 1, 2.0],
    ["sl", 1, 2], ["sl", 1, "a", 2], ["e", 1], ["b", 1], ["k", "f8"], ["k", "object"], ["o", "a" * 200], b"[" * 100_000,
    b"[" + b"9" * 5000 + b",[]]", ["g", -1, 1, 0, 0], ["g", 1, 1 << 128, 0, 0], ["g", 1, 1, 2, 0], ["g", 1, 1, 0, ["l"]], ["g", 1],
)  # fmt: skip
LIES_ABOUT_BUFFERS = (
    (["a", "<f8", [3], "C"], [16], 16), (["a", "<f8", [-2], "C"], [16], 16), (["a", "<f8", [2**40, 2**40], "C"], [0], 0),
    (["a", "<f8", [100_000, 100_000, 0], "C"], [0], 0), (["a", "<f8", [True], "C"], [8], 8), (["a", "|O8", [1], "C"], [8], 8),
    (["a", "<U0", [5], "C"], [0], 0), (["a", "<f8", [1] * 40, "C"], [8], 8), (["a", "<f8", [1], "Z"], [8], 8),
    (["l", ["b"], ["b"]], [8], 8), (1, [8], 8), (["b"], [-8], 0), (["b"], [10**9], 0), (["G"], [10], 10),
    (["T", "float32", ["a", "<f4", [1], "C"], 1], [4], 4), (["T", "qint8", ["a", "|i1", [1], "C"], False], [1], 1),
    (["a", "<f8", [1], "number"], [8], 8),
)  # fmt: skip


def test_lies_are_refused():
    frames = [*map(frame_of, LIES)]
    frames += [frame_of(tree, lengths, bytes(body)) for tree, lengths, body in LIES_ABOUT_BUFFERS]
    frames += [wire.PREFIX.pack(wire.MAGIC, 1 << 31, 1 << 62), wire.PREFIX.pack(wire.MAGIC, 0, 0)]
    for frame in (*frames, frame_of(["a", "<U1", [1], "C"], [4], b"\xff" * 4)):
        with pytest.raises(WireError):
            wire.decode(frame)


def test_what_c_code_or_a_hash_table_could_stumble_over_is_checked():
    for tree in (["a", "|b1", [4], "C"], ["T", "bool", ["a", "|b1", [4], "C"], False]):
        three = wire.decode(frame_of(tree, [4], b"\x00\x01\x02\xff"))
        assert three.sum() == 3, "a boolean holds one of two values"
    colliding = ["s", *[["I", format(((1 << 61) - 1) * (2**60 + i), "x")] for i in range(100)]]
    with pytest.raises(WireError, match="collide"):
        wire.decode(frame_of(colliding))


def test_ranges_count_as_what_they_unfold_to():
    called = ("callback", 0, ([range(600_000)] * 2,), {})
    for value in ([range(1_000_000)] * 2, called, range(-(10**400), 10**400), range(10**30, -(10**30), -3)):
        frame = wire.encode(value)
        assert len(frame) < 2_000_000
        with pytest.raises(wire.WireError, match="too many parts"):
            wire.decode(frame)
    for value in (range(0), range(5, 5), range(9, 2, -3), range(999_000), range(3, -3)):
        assert trip(value) == value


#: Parts of a tree of which a frame may hold very many, with the bytes of a buffer that each takes.
MANY_OF = (
    (["ref", "handle", 0], None), (["l"], None), (["d", 1, 2], None), (["s"], None), (["s", 1, 2, 3, 4, 5], None), (1.5, None),
    ("a\U0001f600", None), (["S"], 20), (["sl", 1, 2, 3], None), (["a", "<f8", [2], "C"], 16), (["a", "<f8", [1] * 32, "C"], 8),
    (["a", "|u1", [2000], "S"], 2000),
)  # fmt: skip


@pytest.mark.parametrize(("tree", "size"), MANY_OF, ids=str)
def test_values_take_no_more_than_they_are_counted_as(tree, size):
    buffers = [] if size is None else [b"\0" * size] * 5000
    frame = frame_of(["l", *[tree] * 5000], [len(buffer) for buffer in buffers], b"".join(buffers))
    counted: list[int] = []
    gc.freeze()  # what was there before is not looked through
    tracemalloc.start()
    try:
        value = wire.decode(frame, resolve=lambda ref: Handle(None, ref), on_held=counted.append)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    assert len(value) == 5000 and taken < 1.25 * counted[0]
