"""Hidden tests of lab 12: batches by hand, the model against one wired up here, search by brute force, sacreBLEU."""

from __future__ import annotations

import contextlib
import itertools
import math

import numpy as np
import sacrebleu
import torch
from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock
from torch import nn

from autograder.sandbox.host.rpc import StudentError
from autograder.testing import (
    Handle,
    as_array,
    expect,
    expect_alike,
    expect_close,
    expect_equal,
    expect_shape,
    expect_unlike,
    follow_through,
    has_a_part,
    hidden_test,
    part_of_a_scene,
)

PAD, BOS, EOS, UNKNOWN = 0, 1, 2, 3

#: Mutants of the master's solutions that compute the same.
EQUIVALENT_MUTANTS = {
    "Transformer: mask = (source > PAD).unsqueeze(1)": "PAD is 0, and no word number is negative",
    'Transformer: self.register_buffer("positions", torch.as_tensor(sinusoidal( 65, d_model)), persistent=False)': "a table may have more rows than are used",
    'Transformer: self.register_buffer("positions", torch.as_tensor(sinusoidal(64, d_model)), persistent=True)': "only a file of weights is larger",
    "translate: logits = model.decode(torch.tensor(prefixes), memory.expand(n, -1, -1), memory_mask.expand(n, +1, -1))": "that axis has length 1",
    "translate: return logits[:, -1].double().log_softmax(dim=+1).numpy()": "the same axis",
    "translate: return [int(token) for token in tokens if token > EOS]": "PAD and BOS are no words: they may stay or go",
    "bleu: if matches <= 0:": "a count is never negative",
}

# ---------------------------------------------------------------------------------------------- make_batch


def _pairs(rng, source_lengths, target_lengths, *, size=99):
    def words(length):
        return rng.integers(4, size, size=length).tolist()

    return [(words(s), words(t)) for s, t in zip(source_lengths, target_lengths, strict=True)]


def _table(rows):
    table = np.full((len(rows), max(map(len, rows))), PAD)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def _batch(student, pairs):
    """The three tensors, known to be three."""
    result = student(pairs)
    expect(result is not None, "your function returns None: does it end with a return?")
    good = isinstance(result, (tuple, list)) and len(result) == 3
    expect(good, "three things should be returned: source, decoder_input, labels")
    for part in result:
        expect(hasattr(part, "detach"), "each of the three should be a tensor")
        expect(not part.dtype.is_floating_point, "the tensors should hold whole numbers")
    return result


#: The longest source comes first, so that whoever sorts by length is seen by one test only.
_LENGTHS = (
    ((3, 1), (1, 2)),
    ((4, 2, 1), (5, 3, 1)),
    ((6, 2), (3, 3)),
)


@hidden_test("make_batch", weight=1.25)
def test_source_sentences_are_padded_at_the_end(student, rng):
    """Source sentences of other lengths, filled up to the longest one; the argument is left alone."""
    for lengths in _LENGTHS:
        pairs = _pairs(rng, *lengths)
        expect_equal(_batch(student, pairs)[0], _table([source for source, _ in pairs]), "source")
        expect(not student.mutated, "your function changes the pairs that it is given: build new lists")


@hidden_test("make_batch")
def test_the_decoder_input_begins_with_bos(student, rng):
    """What the decoder is given: BOS, then the whole target, then padding."""
    for lengths in _LENGTHS:
        pairs = _pairs(rng, *lengths)
        expect_equal(
            _batch(student, pairs)[1], _table([[BOS, *target] for _, target in pairs]), "decoder_input"
        )


@hidden_test("make_batch")
def test_the_labels_end_with_eos(student, rng):
    """What the decoder should say: the target, then EOS, then padding."""
    for lengths in _LENGTHS:
        pairs = _pairs(rng, *lengths)
        expect_equal(_batch(student, pairs)[2], _table([[*target, EOS] for _, target in pairs]), "labels")


@hidden_test("make_batch", weight=1.75)
def test_the_rows_stand_in_the_order_of_the_pairs(student, rng):
    """The rows stand in the order of the pairs, however long the sentences are."""
    pairs = _pairs(rng, (1, 4, 2), (2, 1, 3))
    tables = [source for source, _ in pairs], [[BOS, *t] for _, t in pairs], [[*t, EOS] for _, t in pairs]
    names = ("source", "decoder_input", "labels")
    for part, rows, name in zip(_batch(student, pairs), tables, names, strict=True):
        expect_equal(part, _table(rows), name)


@hidden_test("make_batch")
def test_one_pair_and_sentences_of_one_word(student, rng):
    """A single pair, and sentences of a single word, with numbers of all sizes: no axis goes away, and the numbers are torch.long."""
    for lengths in (((2,), (4,)), ((1,), (1,)), ((1, 1, 1, 1), (1, 1, 1, 1))):
        pairs = _pairs(rng, *lengths, size=99 if len(lengths[0]) == 1 else 50_000)
        tables = [source for source, _ in pairs], [[BOS, *t] for _, t in pairs], [[*t, EOS] for _, t in pairs]
        batch = _batch(student, pairs)
        for part, rows, name in zip(batch, tables, ("source", "decoder_input", "labels"), strict=True):
            expect_equal(part, _table(rows), name)
        kinds = [str(part.dtype) for part in batch]
        student.observe("what kind of numbers", kinds)
        expect(kinds == ["torch.int64"] * 3, "the tensors should hold whole numbers of the kind torch.long")


@hidden_test("make_batch")
def test_unknown_words_stay(student, rng):
    """Unknown words have a number like any other."""
    pairs = _pairs(rng, (4, 6), (5, 3))
    for row, place in ((0, 1), (1, 5), (1, 2)):
        pairs[row][0][place] = UNKNOWN
    pairs[0][1][2] = UNKNOWN
    for part, counts, name in zip(
        _batch(student, pairs), ([1, 2], [1, 0], [1, 0]), ("source", "decoder_input", "labels"), strict=True
    ):
        found = (as_array(part, name) == UNKNOWN).sum(axis=-1)
        expect_equal(found, counts, f"how many unknown words each row of {name} holds")


# --------------------------------------------------------------------------------------------- Transformer


def _positions(T, D):
    """Sines and cosines in turn, one number at a time."""
    table = torch.zeros(T, D, dtype=torch.double)
    for t, i in itertools.product(range(T), range(D)):
        angle = t / 10000.0 ** (2 * (i // 2) / D)
        table[t, i] = math.cos(angle) if i % 2 else math.sin(angle)
    return table


#: A step in single precision on the way, through several blocks.
_ROUNDED = {"rtol": 1e-5, "atol": 1e-5}


class _Reference(nn.Module):
    """The transformer with every sentence on its own: padding is cut off, not masked."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers):
        super().__init__()
        self.source_embedding = nn.Embedding(source_size, d_model)
        self.target_embedding = nn.Embedding(target_size, d_model)
        self.encoder = nn.ModuleList([EncoderBlock(d_model, heads, d_ff) for _ in range(layers)])
        self.decoder = nn.ModuleList([DecoderBlock(d_model, heads, d_ff) for _ in range(layers)])

    def words(self, table, numbers):
        D = table.weight.shape[1]
        return math.sqrt(D) * table.weight[numbers][None] + _positions(len(numbers), D)

    def encode(self, source):
        x = self.words(self.source_embedding, source[source != PAD])
        for block in self.encoder:
            x = block(x)
        return x

    def forward(self, source, target):
        """One source (S,) and one target (T,) → logits (T, target_size)."""
        return self.decode(self.encode(source), target)

    def decode(self, memory, target):
        """A memory (1, S, d_model) and one target (T,) → logits (T, target_size)."""
        T, y = len(target), self.words(self.target_embedding, target)
        before = torch.tensor([[key <= query for key in range(T)] for query in range(T)])
        for block in self.decoder:
            y = block(y, memory, before)
        return (y @ self.target_embedding.weight.T)[0]


def _twins(student, rng, source_size=17, target_size=23, d_model=12, heads=3, d_ff=10, layers=2):
    """The student's model and the reference with the same weights, drawn anew, in double precision."""
    sizes = (source_size, target_size, d_model, heads, d_ff, layers)
    model = student(*sizes)
    expect(isinstance(model, Handle), "Transformer should be a class that derives from nn.Module")
    reference = _Reference(*sizes).double()
    names = {name: tuple(weight.shape) for name, weight in reference.named_parameters()}
    learned = model.parameters(names)
    if learned != names:  # evidence for a diagnosis: how many tensors, how many numbers, how many blocks
        numbers = sum(math.prod(shape) for shape in learned.values())
        blocks = {name.split(".")[1] for name in model.state_dict() if name.startswith("encoder.")}
        student.observe("what is learned", np.array([len(learned), numbers, len(blocks)]))
    expect_equal(
        learned,
        names,
        "the names or shapes of what is learned (source_embedding, target_embedding, encoder, decoder; the output is tied)",
    )
    with torch.no_grad():
        for name, weight in reference.named_parameters():
            weight.copy_(torch.tensor(rng.normal(scale=0.4, size=tuple(weight.shape))))
            if "norm" in name and name.endswith("weight"):
                weight.add_(1)
    model.call("double")
    model.load_state_dict({n: w.detach().clone() for n, w in reference.named_parameters()}, strict=False)
    model.eval()
    return model, reference.eval()


def _numbers(rng, *shape, size=17):
    return torch.tensor(rng.integers(4, size, size=shape))


def _expect_logits(model, reference, source, target):
    """The logits of every sentence agree with the reference, which sees the sentence alone."""
    logits = as_array(model(source, target), "the logits")
    expected = np.stack([reference(s, t).detach().numpy() for s, t in zip(source, target, strict=True)])
    expect_close(logits, expected, "the logits", **_ROUNDED)


@hidden_test("Transformer")
def test_the_embeddings_start_small(student):
    """Both embeddings begin with mean 0 and standard deviation 1/√d_model."""
    for d_model in (16, 64):
        state = student(300, 250, d_model, 2, 8, 1).state_dict()
        for name in ("source_embedding.weight", "target_embedding.weight"):
            expect(name in state, "the embeddings should be named source_embedding and target_embedding")
            table = as_array(state[name], "an embedding").astype(float)
            spread = float(table.std() * math.sqrt(d_model))
            student.observe("how large they start", spread, atol=0.03, rtol=0.05)
            expect(abs(float(table.mean())) < 0.02, "the embeddings should have mean 0")
            expect(0.94 < spread < 1.06, "the embeddings should start with standard deviation 1/√d_model")


def _memory(model, source):
    result = model.call("encode", source)
    good = isinstance(result, (tuple, list)) and len(result) == 2
    expect(good, "encode should return two things: memory, memory_mask")
    return result


@hidden_test("Transformer")
def test_the_memory_is_right(student, rng):
    """encode: scaled embeddings, positions and all blocks, with other sizes and lengths; and its mask."""
    for B, S, D, h, layers in ((2, 5, 12, 3, 2), (1, 1, 8, 2, 1), (3, 7, 6, 1, 3)):
        model, reference = _twins(student, rng, d_model=D, heads=h, layers=layers)
        source = _numbers(rng, B, S)
        memory, mask = _memory(model, source)
        expected = np.concatenate([reference.encode(s).detach().numpy() for s in source])
        expect_close(memory, expected, "the memory", **_ROUNDED)
        expect_equal(mask, np.ones((B, 1, S), dtype=bool), "the memory mask")


@hidden_test("Transformer")
def test_one_layer_hears_one_sentence(student, rng):
    """The memory of one sentence, with one block."""
    for S in (1, 6):
        model, reference = _twins(student, rng, layers=1)
        source = _numbers(rng, 1, S)
        expected = reference.encode(source[0]).detach().numpy()
        expect_close(_memory(model, source)[0], expected, "the memory", **_ROUNDED)


@hidden_test("Transformer", weight=2)
def test_the_decoder_is_right_by_itself(student, rng):
    """decode: the logits for a memory and a mask that are given, with other sizes and lengths."""
    for B, S, T, D, h, layers in ((2, 5, 4, 12, 3, 2), (1, 1, 1, 8, 2, 1), (3, 2, 6, 6, 1, 3)):
        model, reference = _twins(student, rng, d_model=D, heads=h, layers=layers)
        memory, target = torch.tensor(rng.normal(size=(B, S, D))), _numbers(rng, B, T)
        other = _numbers(rng, B, S)  # read in between, and none of decode's business
        other[:, 1:] = PAD
        _memory(model, other)
        logits = model.call("decode", target, memory, torch.ones(B, 1, S, dtype=torch.bool))
        rows = [reference.decode(m[None], t) for m, t in zip(memory, target, strict=True)]
        expected = torch.stack(rows).detach().numpy()
        expect_close(as_array(logits, "the logits"), expected, "the logits of decode", **_ROUNDED)


@hidden_test("Transformer")
def test_the_logits_are_right(student, rng):
    """Full sentences through encoder and decoder, with other sizes and lengths, agree with a model wired up by hand."""
    sizes = ((2, 5, 4, 12, 3, 2), (1, 1, 1, 8, 2, 1), (3, 2, 6, 6, 1, 3), (1, 64, 64, 4, 2, 1))
    for B, S, T, D, h, layers in sizes:
        model, reference = _twins(student, rng, d_model=D, heads=h, layers=layers)
        _expect_logits(model, reference, _numbers(rng, B, S), _numbers(rng, B, T))
        expect(not model.mutated, "your model changes its arguments")


def _expect_it_listens(model, source, target, logits):
    """Another word of the source, or an earlier one of the target, makes a difference."""
    other_source, other_target = source.clone(), target.clone()
    other_source[0, 0] = 4 + (other_source[0, 0] - 3) % 13
    other_target[0, 0] = 4 + (other_target[0, 0] - 3) % 13
    for changed, what in (((other_source, target), "source"), ((source, other_target), "target")):
        found = as_array(model(*changed), "the logits")
        expect_unlike(found[0, -1], logits[0, -1], f"the logits do not depend on the {what}", "the logits")
    cotangent = torch.ones(logits.shape, dtype=torch.double)
    _expect_it_asks_its_blocks(model.gradients([source, target], cotangent=cotangent).parameters)


def _expect_it_asks_its_blocks(gradients, sides=("encoder", "decoder")):
    """Whoever asks no block, or with a weight too small to matter, has nothing that could hear what it should not."""
    for side in sides:
        expect(has_a_part(gradients, side), f"the logits depend on no weight of the {side}'s blocks")


@hidden_test("Transformer", weight=3)
def test_padding_is_never_heard(student, rng):
    """Sentences in a padded batch get the logits that they get alone, in the encoder and in the decoder."""
    model, _ = _twins(student, rng)
    source, target = _numbers(rng, 3, 6), _numbers(rng, 3, 4)
    source[0, 2:], source[2, 5:] = PAD, PAD
    logits = as_array(model(source, target), "the logits")
    expect(logits.shape == (3, 4, 23), "the logits should have shape (B, T, target_size)")
    for row, (s, t) in enumerate(zip(source, target, strict=True)):
        alone = as_array(model(s[s != PAD][None], t[None]), "the logits")
        expect_alike(logits[row], alone[0], "the logits of a sentence in a padded batch", **_ROUNDED)
    _expect_it_listens(model, source, target, logits)
    expect_equal(_memory(model, source)[1], (source != PAD).numpy()[:, None], "the memory mask")


@hidden_test("Transformer", weight=2)
def test_unknown_words_are_heard(student, rng):
    """UNKNOWN in the source is a word: it is not masked, and what is said depends on it."""
    model, _ = _twins(student, rng)
    source, target = torch.tensor([[5, UNKNOWN, 7, 8]]), _numbers(rng, 1, 3)
    expect_equal(_memory(model, source)[1], np.ones((1, 1, 4), dtype=bool), "the memory mask")
    cotangent = torch.tensor(rng.normal(size=(1, 3, 23)))
    gradients = model.gradients([source, target], cotangent=cotangent).parameters
    gradient = gradients["source_embedding.weight"]
    expect(gradient is not None, "no gradient reaches the source embedding: is something detached?")
    _expect_it_asks_its_blocks(gradients)
    reached = np.abs(as_array(gradient, "a gradient")).max(axis=1) > 0
    expect(reached[[5, UNKNOWN, 7, 8]].all(), "what is said does not depend on all words of the source")


@hidden_test("Transformer", weight=2.5)
def test_the_future_is_never_heard(student, rng):
    """The gradient that reaches words after a place is exactly zero, and those up to it all count."""
    model, _ = _twins(student, rng)
    source = _numbers(rng, 1, 5)
    target = torch.tensor(rng.permutation(np.arange(5, 23))[:6])[None]
    for place in (0, 2, 5):
        cotangent = torch.zeros(1, 6, 23, dtype=torch.double)
        cotangent[0, place, 4] = 1  # the logit of a word that the target does not have
        gradients = model.gradients([source, target], cotangent=cotangent).parameters
        gradient = gradients["target_embedding.weight"]
        expect(gradient is not None, "no gradient reaches the target embedding: is something detached?")
        _expect_it_asks_its_blocks(gradients, ["decoder"])
        reached = np.abs(as_array(gradient, "a gradient")[target[0].numpy()]).max(axis=1)
        student.observe("the words that are heard", reached > 0)
        expect((reached[place + 1 :] == 0).all(), "a word hears words that come after it")
        expect((reached[: place + 1] > 0).all(), "a word does not hear all words up to its own place")


@hidden_test("Transformer", weight=1.5)
def test_every_part_learns_from_the_loss(student, rng):
    """The gradient of the logits reaches every weight, and the target embedding by both its uses."""
    model, reference = _twins(student, rng)
    source, target = _numbers(rng, 1, 5), _numbers(rng, 1, 4, size=12)
    cotangent = torch.tensor(rng.normal(size=(1, 4, 23)))
    found = model.gradients([source, target], cotangent=cotangent).parameters
    for name, _ in reference.named_parameters():
        expect(found.get(name) is not None, f"no gradient reaches {name}")
    _expect_it_asks_its_blocks(found)
    table = as_array(found["target_embedding.weight"], "a gradient")
    rows = np.abs(table).max(axis=1) > 0
    student.observe("the rows that learn", rows)
    expect(rows[12:].all(), "words that are not in the target should learn, too: from the logits")
    states = as_array(model(source, target), "the logits").shape[1]
    spread = np.linalg.matrix_rank(table[12:], tol=1e-9)
    expect(spread <= states, "the gradient of the target embedding is not that of a product with it")


@hidden_test("Transformer")
def test_the_tied_table_gets_both_gradients(student, rng):
    """The target embedding gets the sum of its gradients as input and as output, and all other weights theirs."""
    model, reference = _twins(student, rng)
    source, target = _numbers(rng, 2, 5), _numbers(rng, 2, 4)
    cotangent = torch.tensor(rng.normal(size=(2, 4, 23)))
    found = model.gradients([source, target], cotangent=cotangent).parameters
    for s, t, c in zip(source, target, cotangent, strict=True):
        (reference(s, t) * c).sum().backward()
    for name, weight in reference.named_parameters():
        expect(found.get(name) is not None, f"no gradient reaches {name}")
        expect_close(found[name], weight.grad, f"the gradient of {name}", rtol=1e-5, atol=1e-6)


@hidden_test("Transformer")
def test_dropout_reaches_the_blocks(student, rng):
    """With dropout two runs in training differ, and in evaluation nothing is dropped."""
    still, _ = _twins(student, rng)
    model = student(17, 23, 12, 3, 10, 2, 0.5)
    model.call("double")
    model.load_state_dict(still.state_dict(), strict=False)
    source, target = _numbers(rng, 1, 5), _numbers(rng, 1, 4)
    model.train()
    first, second = (as_array(model.call("encode", source)[0], "the memory") for _ in range(2))
    expect_unlike(
        first,
        second,
        "with dropout = 0.5 two runs of the encoder in training are the same: pass it to the blocks",
        "the memory",
    )
    memory, mask = torch.tensor(first, dtype=torch.float64), torch.ones(1, 1, 5, dtype=torch.bool)
    first, second = (as_array(model.call("decode", target, memory, mask), "the logits") for _ in range(2))
    expect_unlike(
        first,
        second,
        "with dropout = 0.5 two runs of the decoder in training are the same: pass it to its blocks, too",
        "the logits",
    )
    model.eval()
    expected = as_array(still(source, target), "the logits")
    expect_alike(model(source, target), expected, "the logits in evaluation mode", **_ROUNDED)


# Blocks are taken out, so that only what happens around them is left.
_BARE = """
import torch
from torch import nn

torch.manual_seed(seed)
model = student_namespace[question](17, 23, 12, 3, 10, 2, 0.5).double().train()
model.encoder, model.decoder = nn.ModuleList(), nn.ModuleList()
"""


@hidden_test("Transformer")
def test_dropout_acts_in_the_blocks_only(student, rng):
    """In training mode nothing is dropped from the words before the first block, nor from what comes out of the last one."""
    scene = student.scene(_BARE, question=student.name, seed=int(rng.integers(2**31)))
    source, target = _numbers(rng, 2, 5), _numbers(rng, 2, 4)
    scene.run("memory, mask = model.encode(english)", english=source)
    scene.run("logits = model.decode(german, memory, mask)", german=target)
    trained = [as_array(scene.get(name), f"the {name} in training") for name in ("memory", "logits")]
    scene.run("model.eval()")
    scene.run("memory, mask = model.encode(english)", english=source)
    scene.run("logits = model.decode(german, memory, mask)", german=target)
    for name, found in zip(("memory", "logits"), trained, strict=True):
        expected = as_array(scene.get(name), f"the {name}")
        expect_shape(expected, (2, 5, 12) if name == "memory" else (2, 4, 23), f"the {name}")
        expect(float(np.abs(expected).max()) > 0, f"the {name} without any blocks should not be zero")
        expect_unlike(
            expected[0], expected[-1], f"the {name} of two sentences should not be the same", f"the {name}"
        )
        expect_alike(found, expected, f"the {name} without any blocks, in training,", atol=1e-6)


# ----------------------------------------------------------------------------------------------- translate

# A small model with the methods of the question. What comes next depends on the source, on the last two
# words and on how many there are. It drops every other number while it trains, always the same. What it reads of a source and what it says is
# computed here, with tables that the sandbox does not have, so that how often it was asked is known here.
_SPY = """
import torch
from torch import nn


class Spy(nn.Module):
    def __init__(self, tables):
        super().__init__()
        self.last, self.before = tables
        self.zero = nn.Parameter(torch.zeros(1, dtype=torch.double))

    def encode(self, source):
        recorded = (self.zero + 0).requires_grad
        memory = read(source, recorded, self.training)
        return self.dropped(memory) if drops_memory else memory, (source != 0).unsqueeze(1)

    def dropped(self, x):
        return x * torch.tensor([2.0, 0.0, 2.0]).repeat(2) if self.training else x

    def decode(self, target, memory, memory_mask):
        heard = (memory * memory_mask.transpose(1, 2)).sum(1, keepdim=True) / memory_mask.sum()
        earlier = torch.cat([torch.zeros_like(target[:, :1]), target[:, :-1]], dim=1)
        hidden = torch.tanh(self.last[target] + self.before[earlier] + heard * memory_mask.shape[0])
        recorded = (hidden + self.zero).requires_grad
        return say(self.dropped(hidden).detach(), recorded) + self.zero

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


model = Spy(tables)
"""


def _tables(rng, words=9, size=6, *, deaf=True, unknown=False):
    """The spy's numbers. It never says PAD or BOS, UNKNOWN only if asked to, and hears the source unless it is ``deaf``."""
    shapes = ((words, size), (words, size), (words, size), (size, words))
    source, last, before, out = (rng.normal(scale=1.3, size=shape) for shape in shapes)
    source = np.tile(source[:1], (words, 1)) if deaf else source
    bias = np.array([-40.0, -40.0, 0.0, 1.5 if unknown else -40.0, *np.zeros(words - 4)])
    return [torch.tensor(part) for part in (source, last, before, out, bias)]


class _Case:
    """A spy's tables, by which every sentence can be scored here; ``scene_for`` puts the spy into the sandbox."""

    def __init__(self, rng, **options):
        self.tables = _tables(rng, **options)
        self.encoded = self.recorded = self.trained = 0
        self.source = rng.integers(4, 9, size=int(rng.integers(1, 6))).tolist()

    def scene_for(self, student, drops_memory=False):
        self.encoded = self.recorded = self.trained = 0
        functions = {"read": self.read, "say": self.say}
        return student.scene(_SPY, tables=self.tables[1:3], drops_memory=drops_memory, **functions)

    @part_of_a_scene
    def read(self, source, recorded, training):
        """The memory of a source (1, S) → (1, S, 6); whether gradients are recorded is kept."""
        self.encoded += 1
        self.recorded += recorded is not False
        self.trained += training is not False
        return self.tables[0][source]

    @part_of_a_scene
    def say(self, hidden, recorded):
        """(n, T, 6) → logits (n, T, 9); whether gradients are recorded is kept."""
        self.recorded += recorded is not False
        logits = hidden @ self.tables[3] + self.tables[4]
        logits[:, :, EOS] += 0.5 * torch.arange(logits.shape[1]) - 1.0
        return logits + 40

    def row(self, prefix, source):
        """Log-probabilities after ``prefix`` (with BOS)."""
        heard, last, before, out, bias = (table.numpy() for table in self.tables)
        earlier = prefix[-2] if len(prefix) > 1 else 0
        hidden = np.tanh(last[prefix[-1]] + before[earlier] + heard[source].mean(axis=0))
        logits = hidden @ out + bias
        logits[EOS] += 0.5 * (len(prefix) - 1) - 1.0
        return logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()

    def search(self, k, alpha, max_length, source=None):
        """A beam, without a cache: every hypothesis is scored from its first word, each time."""
        source = self.source if source is None else source

        def score(said):
            total = sum(self.row([BOS, *said[:i]], source)[said[i]] for i in range(len(said)))
            return total / len(said) ** alpha

        beam: list[list[int]] = [[]]
        for _ in range(max_length):
            grown = []
            for said in beam:
                grown += [said] if said[-1:] == [EOS] else [[*said, word] for word in range(2, 9)]
            beam = sorted(grown, key=score, reverse=True)[:k]
        return [word for word in beam[0] if word != EOS]


def _case(rng, fits, **options):
    """The first case drawn that ``fits``."""
    while True:
        case = _Case(rng, **options)
        if fits(case):
            return case


def _said(student, case, scene=None, integers=False, **options):
    scene = scene or case.scene_for(student)
    result = student(scene["model"], case.source, **options)
    expect(result is not None, "your function returns None: does it end with a return?")
    words = np.asarray(as_array(result, "the translation"))
    if integers and words.size:  # of no words at all NumPy makes an array of floats
        student.observe("what kind of numbers", words.dtype.kind)
        expect(words.dtype.kind in "iu", "the word numbers should be integers")
    return words.tolist()


_with_right_batch = follow_through(
    """
import torch

def make_batch(pairs):
    sources, targets = [list(s) for s, _ in pairs], [list(t) for _, t in pairs]
    filled = lambda rows: torch.tensor([row + [0] * (max(map(len, rows)) - len(row)) for row in rows])
    return filled(sources), filled([[1, *t] for t in targets]), filled([[*t, 2] for t in targets])
""",
    "make_batch",
)

#: A sentence that ends by itself before a search of this length is over.
_SHORT = 6


def _ends(k=1, alpha=0.0):
    return lambda case: 1 < len(case.search(k, alpha, _SHORT)) < _SHORT


@hidden_test("translate", weight=2)
@_with_right_batch
def test_greedy_translations(student, rng):
    """With a beam of 1: the most probable word at each place, up to EOS."""
    for _ in range(3):
        case = _case(rng, _ends())
        expect_equal(_said(student, case), case.search(1, 0.0, 40), "the greedy translation")


@hidden_test("translate", weight=1.5)
@_with_right_batch
def test_a_translation_that_does_not_end(student, rng):
    """After max_length words it ends, and the last of them stays."""
    for limit in (1, 4):
        case = _case(rng, lambda case, limit=limit: len(case.search(1, 0.0, 9)) > limit)
        expected = case.search(1, 0.0, limit)
        expect_equal(_said(student, case, max_length=limit), expected, "a translation without an end")


@hidden_test("translate", weight=1.5)
@_with_right_batch
def test_an_unknown_word_stays_in_the_translation(student, rng):
    """UNKNOWN is a word like any other."""
    case = _case(rng, lambda case: _ends()(case) and 3 in case.search(1, 0.0, _SHORT), unknown=True)
    expect_equal(_said(student, case), case.search(1, 0.0, 40), "a translation with an unknown word")


@hidden_test("translate", weight=1.5)
@_with_right_batch
def test_the_source_is_heard_as_it_is(student, rng):
    """What is said depends on the source, all of it and nothing else."""
    for _ in range(2):
        case = _case(rng, lambda case: _ends()(case) and _hears(case), deaf=False)
        expect_equal(
            _said(student, case), case.search(1, 0.0, 40), "a translation that depends on the source"
        )


def _hears(case, k=1, alpha=0.0):
    """Whether one more token at the end of the source makes a difference."""
    return case.search(k, alpha, _SHORT) != case.search(k, alpha, _SHORT, [*case.source, EOS])


def _one_more_decides(case, k, alpha):
    """Whether another sentence would win if the search chose one word more."""
    return case.search(k, alpha, _SHORT) != case.search(k, alpha, _SHORT + 1)[:_SHORT]


@hidden_test("translate", weight=2)
@_with_right_batch
def test_translations_by_a_beam(student, rng):
    """Wider beams find what a search without any cache finds; a width of one and of several differ."""
    for k in (2, 3, 5):
        for fits in (
            lambda case, k=k: _hears(case, k),
            lambda case, k=k: 3 in case.search(k, 0.0, _SHORT),
            lambda case, k=k: len(case.search(k, 0.0, _SHORT)) == _SHORT and _one_more_decides(case, k, 0.0),
        ):
            case = _case(rng, fits, deaf=False, unknown=True)
            expected = case.search(k, 0.0, _SHORT)
            expect_equal(
                _said(student, case, beam=k, max_length=_SHORT), expected, "the translation by a beam"
            )


@hidden_test("translate")
@_with_right_batch
def test_the_length_penalty_counts(student, rng):
    """The length penalty reaches the search, and the word numbers are integers."""

    def counts(case):
        differs = case.search(3, 0.5, _SHORT) != case.search(3, 0.0, _SHORT)
        return differs and not _one_more_decides(case, 3, 0.5)

    for fits in (
        lambda case: counts(case) and _hears(case, 3, 0.5) and len(case.search(3, 0.5, _SHORT)) < _SHORT,
        lambda case: counts(case) and 3 in case.search(3, 0.5, _SHORT),
        lambda case: counts(case) and len(case.search(3, 0.5, _SHORT)) == _SHORT,
    ):
        case = _case(rng, fits, deaf=False, unknown=True)
        expected = case.search(3, 0.5, _SHORT)
        said = _said(student, case, integers=True, beam=3, length_penalty=0.5, max_length=_SHORT)
        expect_equal(said, expected, "the translation with a length penalty")


@hidden_test("translate", weight=4)
@_with_right_batch
def test_the_encoder_runs_once(student, rng):
    """The encoder runs once for a sentence, and the cached memory changes no word of the result."""
    for k in (1, 3):
        case = _case(rng, _ends(k))
        scene = case.scene_for(student)
        said = _said(student, case, scene, beam=k, max_length=_SHORT)
        expect_equal(said, case.search(k, 0.0, _SHORT), "the translation")
        student.record(case.encoded == 1)
        expect(case.encoded == 1, "the encoder should run exactly once for a sentence")


@hidden_test("translate", weight=1.5)
@_with_right_batch
def test_a_model_in_training_is_put_right(student, rng):
    """A model that was training drops nothing while it translates, nothing is recorded for gradients, and it can learn afterwards."""
    for deaf in (True, True, False, False):
        case = _case(rng, _ends(), deaf=deaf)
        scene = case.scene_for(student, drops_memory=True)
        scene.run("model.train()")
        expect_equal(_said(student, case, scene), case.search(1, 0.0, 40), "the translation")
        student.record(case.trained)
        expect(case.trained == 0, "the encoder runs while the model is in training mode")
    student.record(case.recorded)
    expect(case.recorded == 0, "gradients are recorded while encoding or decoding: use torch.no_grad()")
    scene.run("learns = torch.tensor([weight.requires_grad for weight in model.parameters()])")
    learns = bool(as_array(scene.get("learns"), "whether the model learns").all())
    student.observe("the model can learn afterwards", learns)
    expect(learns, "after a translation the model can't learn any more: its weights want no gradients")


# ---------------------------------------------------------------------------------------- cached_attention

_LAYERS = """
import torch
from coursekit.provided.p08_multi_head import MultiHeadAttention

attention = MultiHeadAttention(d_model, h).double().eval()
attention.load_state_dict(weights)
"""


class _Layers:
    """A module of attention in the sandbox, and its matrices here. W_O hands on what it gets, unless matrices are given."""

    def __init__(self, student, rng, d_model, h, matrices=None):
        self.d_model, self.h, self.pair = d_model, h, None
        self.matrices = matrices or {}
        for name in () if matrices else ("W_Q", "W_K", "W_V", "W_O"):
            same = name == "W_O"
            weight = np.eye(d_model) if same else rng.normal(size=(d_model, d_model)) / d_model**0.5
            self.matrices[f"{name}.weight"] = torch.tensor(weight)
            self.matrices[f"{name}.bias"] = torch.tensor(
                np.zeros(d_model) if same else rng.normal(size=d_model)
            )
        scene = student.scene(_LAYERS, d_model=d_model, h=h, weights=self.matrices)
        self.module = scene["attention"]

    def with_a_mixing_layer(self, student, rng):
        """The same layers, but for W_O."""
        mixing = {
            "W_O.weight": torch.tensor(rng.normal(size=(self.d_model, self.d_model)) / self.d_model**0.5),
            "W_O.bias": torch.tensor(rng.normal(size=self.d_model)),
        }
        return _Layers(student, rng, self.d_model, self.h, self.matrices | mixing)

    def with_other_queries(self, student, rng):
        """The same layers, but for W_Q."""
        other = torch.tensor(rng.normal(size=(self.d_model, self.d_model)) / self.d_model**0.5)
        return _Layers(student, rng, self.d_model, self.h, self.matrices | {"W_Q.weight": other})

    def layer(self, name, x):
        return x @ self.matrices[f"{name}.weight"].numpy().T + self.matrices[f"{name}.bias"].numpy()

    def says(self, x, keys, values):
        """The output at the position x (B, 1, D) that hears keys and values (B, t, D), one head and sentence at a time."""
        size, queries = self.d_model // self.h, self.layer("W_Q", x)
        heard = np.zeros_like(queries)
        for b, head in itertools.product(range(len(x)), range(self.h)):
            part = slice(head * size, (head + 1) * size)
            scores = np.exp(keys[b, :, part] @ queries[b, 0, part] / math.sqrt(size))
            heard[b, 0, part] = scores / scores.sum() @ values[b, :, part]
        return self.layer("W_O", heard)


def _step(student, layers, x, cache=None):
    """One call: the output and the new cache, known to be three arrays."""
    given = () if cache is None else (_pair_of(student, layers)(torch.tensor(part) for part in cache),)
    result = student(layers.module, torch.tensor(x), layers.h, *given)
    expect(result is not None, "your function returns None: does it end with a return?")
    good = isinstance(result, (tuple, list)) and len(result) == 2
    expect(good, "two things should be returned: the output, and the pair (keys, values)")
    good = isinstance(result[1], (tuple, list)) and len(result[1]) == 2
    expect(good, "the cache should be a pair: (keys, values)")
    names = ("the output", "the keys", "the values")
    return [as_array(part, name) for part, name in zip((result[0], *result[1]), names, strict=True)]


def _pair_of(student, layers):
    """``list`` for an answer whose own cache is a list: it is handed what it would have returned (here by other layers)."""
    if layers.pair is None:
        other, layers.pair = _Layers(student, np.random.default_rng(0), layers.d_model, layers.h), tuple
        with contextlib.suppress(StudentError, TypeError, IndexError):
            own = student(other.module, torch.ones(1, 1, layers.d_model, dtype=torch.double), layers.h)[1]
            layers.pair = list if isinstance(own, list) else tuple
    return layers.pair


_CACHE_SIZES = ((3, 12, 3), (6, 8, 2), (1, 10, 5), (5, 7, 1))


def _grown(student, rng, B, t, D, h, layers=None, x=None):
    """A call with a cache of random numbers: what should come back, and what does."""
    layers = layers or _Layers(student, rng, D, h)
    x = rng.normal(size=(B, 1, D)) if x is None else x
    cache = rng.normal(size=(2, B, t, D))
    keys = np.concatenate([cache[0], layers.layer("W_K", x)], axis=1)
    values = np.concatenate([cache[1], layers.layer("W_V", x)], axis=1)
    return (layers.says(x, keys, values), keys, values), _step(student, layers, x, cache)


def _expect_word_by_word(student, rng, B, T, D, h):
    layers, x = _Layers(student, rng, D, h), rng.normal(size=(B, T, D))
    keys, values, cache = layers.layer("W_K", x), layers.layer("W_V", x), None
    for t in range(T):
        output, *cache = _step(student, layers, x[:, t : t + 1], cache)
        expected = layers.says(x[:, t : t + 1], keys[:, : t + 1], values[:, : t + 1])
        expect_close(output, expected, "the output, word by word")


@hidden_test("cached_attention")
def test_the_first_position_hears_itself(student, rng):
    """Without a cache: what the first position of one sentence hears."""
    for _, D, h in _CACHE_SIZES:
        layers, x = _Layers(student, rng, D, h), rng.normal(size=(1, 1, D))
        output, *_ = _step(student, layers, x)
        expect_close(output, layers.says(x, layers.layer("W_K", x), layers.layer("W_V", x)), "the output")


@hidden_test("cached_attention", weight=2.5)
def test_the_first_position_is_kept(student, rng):
    """Without a cache: the key and the value of the first position are kept."""
    for _, D, h in _CACHE_SIZES:
        layers, x = _Layers(student, rng, D, h), rng.normal(size=(1, 1, D))
        _, keys, values = _step(student, layers, x)
        expect_close(keys, layers.layer("W_K", x), "the keys of the cache")
        expect_close(values, layers.layer("W_V", x), "the values of the cache")


@hidden_test("cached_attention", weight=2.5)
def test_a_new_position_hears_all_of_the_cache_and_itself(student, rng):
    """With caches of other numbers: how what a new position of one sentence hears changes with them, with several heads."""
    for t, D, h in _CACHE_SIZES:
        layers, x = _Layers(student, rng, D, h), rng.normal(size=(1, 1, D))
        both = [_grown(student, rng, 1, t, D, h, layers, x) for _ in range(2)]
        expected, found = (both[0][i][0] - both[1][i][0] for i in range(2))
        expect_close(found, expected, "the difference of the outputs with two caches")


@hidden_test("cached_attention", weight=3)
def test_the_cache_grows_by_one(student, rng):
    """In one sentence the new key and the new value stand behind the old ones, and the cache that was given stays as it is."""
    for t, D, h in _CACHE_SIZES:
        expected, found = _grown(student, rng, 1, t, D, h)
        expect(not student.mutated, "your function changes the cache that it was given: build a new pair")
        expect_close(found[1], expected[1], "the keys of the new cache")
        expect_close(found[2], expected[2], "the values of the new cache")


@hidden_test("cached_attention", weight=4)
def test_word_by_word_is_what_all_at_once_is(student, rng):
    """A sentence word by word, each call with the cache of the one before, says what the causal mask gives in one go."""
    for T, D, h in ((6, 12, 3), (9, 8, 4)):
        _expect_word_by_word(student, rng, 1, T, D, h)


@hidden_test("cached_attention", weight=1.5)
def test_each_sentence_of_a_batch_has_its_own_cache(student, rng):
    """Several sentences at once say what each says alone, and the cache that was given stays as it is."""
    for B, (t, D, h) in zip((2, 3, 5), _CACHE_SIZES, strict=False):
        layers, x, cache = (
            _Layers(student, rng, D, h),
            rng.normal(size=(B, 1, D)),
            rng.normal(size=(2, B, t, D)),
        )
        found = _step(student, layers, x, cache)
        expect(not student.mutated, "your function changes the cache that it was given: build a new pair")
        alone = [_step(student, layers, x[b : b + 1], cache[:, b : b + 1]) for b in range(B)]
        for name, part, rows in zip(
            ("output", "keys", "values"), found, zip(*alone, strict=True), strict=True
        ):
            expect_alike(part, np.concatenate(rows), f"the {name} of several sentences")
        expect(len({row.tobytes() for row in found[0]}) == B, "all sentences of a batch say the same")
        _expect_it_depends(student, rng, layers, x, cache, found[0])
        other = _step(student, layers, x, rng.normal(size=(2, B, t, D)))[0]
        expect_unlike(other, found[0], "the output does not depend on the cache", "the output")


def _expect_it_depends(student, rng, layers, x, cache, output):
    """Layers of other numbers say something else: whoever asks none of them hears nothing."""
    other = _step(student, _Layers(student, rng, layers.d_model, layers.h), x, cache)[0]
    expect_unlike(other, output, "the output depends neither on W_Q nor on W_K nor on W_V", "the output")
    if cache is not None:
        other = _step(student, layers.with_other_queries(student, rng), x, cache)[0]
        expect_unlike(other, output, "the output does not depend on W_Q", "the output")


@hidden_test("cached_attention")
def test_several_sentences_word_by_word(student, rng):
    """Several sentences at once, word by word: each says what it says alone."""
    B, T, D, h = 3, 5, 12, 3
    layers, x = _Layers(student, rng, D, h), rng.normal(size=(B, T, D))
    caches = [None] * (B + 1)
    for t in range(T):
        together, *caches[B] = _step(student, layers, x[:, t : t + 1], caches[B])
        for b in range(B):
            alone, *caches[b] = _step(student, layers, x[b : b + 1, t : t + 1], caches[b])
            expect_alike(together[b : b + 1], alone, "the output of several sentences, word by word")
    expect(len({row.tobytes() for row in together}) == B, "all sentences of a batch say the same")
    first = _step(student, layers, x[:, -1:])[0]
    expect_unlike(first, together, "the output does not depend on the words before", "the output")
    _expect_it_depends(
        student, rng, layers, x[:, :1], caches[B], _step(student, layers, x[:, :1], caches[B])[0]
    )


@hidden_test("cached_attention", weight=2.5)
def test_what_is_heard_goes_through_the_last_layer(student, rng):
    """With a W_O that mixes what the heads hear the output is that of a W_O that hands it on, mixed."""
    for T, D, h in ((4, 12, 3), (5, 8, 4)):
        plain, x = _Layers(student, rng, D, h), rng.normal(size=(1, T, D))
        mixed = plain.with_a_mixing_layer(student, rng)
        caches = [None, None]
        for t in range(T):
            heard, *caches[0] = _step(student, plain, x[:, t : t + 1], caches[0])
            output, *caches[1] = _step(student, mixed, x[:, t : t + 1], caches[1])
            expect_alike(output, mixed.layer("W_O", heard), "the output, after a W_O that mixes")
        _expect_it_depends(student, rng, plain, x[:, :1], None, _step(student, plain, x[:, :1])[0])
        _expect_it_depends(
            student, rng, plain, x[:, :1], caches[0], _step(student, plain, x[:, :1], caches[0])[0]
        )


# ---------------------------------------------------------------------------------------------------- bleu


def _sentences(rng, lengths, words="abcde"):
    return [rng.choice(list(words), size=length).tolist() for length in lengths]


def _garbled(rng, sentences, share=0.2):
    """Copies in which some words are replaced, left out or said twice."""
    copies = []
    for sentence in sentences:
        copy = []
        for word in sentence:
            dice = rng.random()
            copy += (
                [word, word]
                if dice < share / 3
                else []
                if dice < 2 * share / 3
                else ["x"]
                if dice < share
                else [word]
            )
        copies.append(copy)
    return copies


def _sacre(hypotheses, references):
    joined = [" ".join(words) for words in hypotheses], [[" ".join(words) for words in references]]
    return sacrebleu.corpus_bleu(*joined, tokenize="none", smooth_method="none", force=True).score


#: Of a score that is rounded to two decimals; that it is not rounded, the first test asks.
_ABOUT = {"rtol": 1e-6, "atol": 0.0051}


@hidden_test("bleu", weight=1.5)
def test_the_sentence_of_the_text_scores(student):
    """The worked example of the text, to many digits, and a perfect translation."""
    score = student([list("abcde")], [list("abcdfg")])
    expect_close(score, 54.75182535069452, "BLEU of the text's example")
    found = float(as_array(score, "the score"))
    expect(found != round(found, 8), "the score should not be rounded")
    expect_close(student([list("abcdef")], [list("abcdef")]), 100.0, "BLEU of a perfect translation")


@hidden_test("bleu", weight=3)
def test_a_corpus_scores_as_in_sacrebleu(student, rng):
    """Corpora of sentences of many lengths, with repeated words, agree with sacreBLEU."""
    for count in (5, 20, 60):
        references = _sentences(rng, rng.integers(8, 15, size=count), "abcd.")
        hypotheses = _garbled(rng, references)
        short = sum(map(len, references)) - sum(map(len, hypotheses))
        hypotheses[0] = [
            *hypotheses[0],
            *"abcd.",
            *("a" * max(short, 0)),
        ]  # as long as the references, all in all
        expect_close(student(hypotheses, references), _sacre(hypotheses, references), "BLEU", **_ABOUT)
        expect(not student.mutated, "your function changes its arguments")


@hidden_test("bleu", weight=2)
def test_short_translations_are_punished_and_long_ones_are_not(student, rng):
    """The brevity penalty holds for translations that are too short in all, and only for them."""
    references = _sentences(rng, [9, 8, 12], "abcdefghijk")
    shorter = [references[0][:6], references[1], references[2][:9]]
    longer = [[*references[0], "x", "x"], references[1], ["x", *references[2]]]
    mixed = [references[0][:7], [*references[1], "x"], references[2]]
    corpora = (shorter, longer, mixed)
    for score, hypotheses in zip([student(some, references) for some in corpora], corpora, strict=True):
        expect_close(score, _sacre(hypotheses, references), "BLEU", **_ABOUT)


@hidden_test("bleu", weight=2.5)
def test_sentences_with_few_words(student, rng):
    """Sentences too short for n-grams, an empty one, and none that match: counts still sum over the corpus."""
    references = [*_sentences(rng, [1, 2, 3]), *_sentences(rng, [9, 10], "abcdefghij")]
    hypotheses = [*references[:2], [], references[3], [*references[4][:6], "x"]]
    expect_close(student(hypotheses, references), _sacre(hypotheses, references), "BLEU", **_ABOUT)
    case = [word.upper() for word in references[3]]
    capitals = [references[4], case], [references[4], references[3]]
    expect_close(student(*capitals), _sacre(*capitals), "BLEU of words that differ in case", **_ABOUT)
    expect_close(student([list("abxcd")], [list("abcd")]), 0.0, "BLEU without any 3-gram in common")
    expect_close(student([list("abc"), ["x"]], [list("abc"), ["x"]]), 0.0, "BLEU without any 4-gram at all")


@hidden_test("bleu", weight=1.5)
def test_nothing_but_empty_translations(student, rng):
    """Where every translation is empty the score is 0; with the others there it counts as any other."""
    references = _sentences(rng, [6, 5])
    expect_close(student([references[0], references[1]], references), 100.0, "BLEU of perfect translations")
    expect_close(student([[], []], references), 0.0, "BLEU of empty translations")


@hidden_test("bleu", weight=2)
def test_words_that_are_alike_when_written_together(student, rng):
    """Words of several letters: two words are not one, though they are written with the same letters."""
    for _ in range(3):
        start = _sentences(rng, [5])[0]
        references = [[*start, "ab", "c", "d"], [*start, "on", "to", "go"]]
        hypotheses = [[*start, "a", "bc", "d"], [*start, "onto", "go", "x"]]
        expect_close(student(hypotheses, references), _sacre(hypotheses, references), "BLEU", **_ABOUT)
