"""Lab 13, TinyLM: a class; a model takes ids (B, T) and returns logits (B, T, V)."""

import numpy as np
import torch
from coursekit.provided.p09_blocks import EncoderBlock
from torch import nn

from autograder.questions.engine import Observed, Question


class PairByPair(nn.Module):
    """The model of the text; who may hear whom is looked up one pair at a time."""

    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__()
        self.embedding, self.position = nn.Embedding(V, d_model), nn.Embedding(max_length, d_model)
        self.blocks = nn.ModuleList(EncoderBlock(d_model, heads, d_ff) for _ in range(layers))
        self.head, self.causal = nn.Linear(d_model, V), causal

    def forward(self, ids):
        T = range(ids.shape[1])
        allowed = [[[bool(row[j]) and (j <= i or not self.causal) for j in T] for i in T] for row in ids]
        x = self.embedding(ids) + torch.stack([self.position.weight[t] for t in T])
        for block in self.blocks:
            x = block(x, torch.tensor(allowed))
        return self.head(x)


question = Question(
    PairByPair,
    forbidden=tuple(
        f"torch.nn.Transformer{part}" for part in ("", "Encoder", "Decoder", "EncoderLayer", "DecoderLayer")
    ),
)

MODEL = """
import zlib

import numpy as np
import torch

model = student_namespace[name](*sizes).double()
for key, value in model.named_parameters():
    drawn = np.random.default_rng([seed, zlib.crc32(key.encode())]).normal(size=tuple(value.shape))
    value.data = torch.tensor(0.6 * drawn * (not key.startswith(tuple(zero))))
learned = {key: tuple(value.shape) for key, value in model.named_parameters()}
"""
ASK = "logits = [model(ids).detach() for ids in batches]"


def model(student, rng, *sizes, zero=()):
    """A scene with a model whose weights follow from their names; those that begin with a name in ``zero`` are 0."""
    return student.scene(
        MODEL, name=student.name, sizes=sizes, seed=int(rng.integers(2**31)), zero=list(zero)
    )


def logits(scene, *batches):
    """The model's logits for each batch of ids."""
    scene.run(ASK, batches=[torch.tensor(ids) for ids in batches])
    return [np.asarray(one) for one in scene["logits"]]


def words(rng, B, T, V, blanks=False):
    """Words, with blanks (number 1) among them or none."""
    ids = rng.integers(2, V, size=(B, T))
    ids[:, 1::2] = 1 if blanks else ids[:, 1::2]
    return ids


@question.scenario("What is learned has the names and the sizes of the text.")
def what_is_learned(student, rng):
    scene, ids = model(student, rng, 11, 12, 3, 5, 3, 8, True), words(rng, 1, 4, 11)
    yield Observed("what is learned", scene["learned"])
    other = ids.copy()
    other[0, 0] = 2 + (ids[0, 0] - 1) % 9  # the next word
    found, moved = logits(scene, ids, other)
    yield Observed("the last word hears the first", bool((np.abs(moved - found)[:, -1] > 1e-9).any()))


@question.scenario("Encoders and decoders of one block, for full and shorter sentences.")
def one_block(student, rng):
    for sizes, T in (((7, 6, 2, 10, 1, 5, False), 5), ((11, 12, 3, 5, 1, 8, True), 3)):
        (found,) = logits(model(student, rng, *sizes), words(rng, 2, T, sizes[0], blanks=True))
        yield Observed("the logits of one block", found)


@question.scenario("Encoders and decoders of two blocks.")
def two_blocks(student, rng):
    for sizes, T in (((7, 6, 2, 10, 2, 5, True), 5), ((11, 12, 3, 5, 2, 8, False), 3)):
        (found,) = logits(model(student, rng, *sizes), words(rng, 2, T, sizes[0], blanks=True))
        yield Observed("the logits of two blocks", found)


@question.scenario("Which tokens are held likely, and in what order.")
def the_ranking(student, rng):
    (found,) = logits(model(student, rng, 9, 6, 2, 10, 2, 7, False), words(rng, 4, 7, 9, blanks=True))
    yield Observed("the order of the guesses", found.argsort(axis=-1))


@question.scenario("The positions alone, where all tokens are alike.", weight=0.5)
def positions_alone(student, rng):
    (found,) = logits(model(student, rng, 9, 6, 2, 10, 2, 7, False, zero=["embedding"]), words(rng, 2, 6, 9))
    yield Observed("the logits of positions alone", found)


def heard(student, rng, causal):
    """What the words hear, of padding and of the first word, once the model has seen a batch without padding."""
    scene = model(student, rng, 9, 6, 3, 8, 2, 9, causal)
    ids = words(rng, 2, 6, 9)
    logits(scene, ids)
    ids[:, 2] = 0
    other = ids.copy()
    other[:, 0] = (ids[:, 0] - 1) % 7 + 2  # the next word
    found, moved = logits(scene, ids, other)
    scene.run("model.embedding.weight.data[0] += torch.tensor(step)", step=rng.normal(size=6))
    (after,) = logits(scene, ids)
    changed = (np.abs(after - found) < 1e-9)[:, [0, 1, 3, 4, 5], 1:]  # a head may share padding's vector
    yield Observed("the words do not hear padding", bool(changed.all()))
    yield Observed("the second word hears the first", bool((np.abs(moved - found)[:, 1] > 1e-9).any()))


@question.scenario("No word of an encoder hears padding.")
def an_encoder_and_padding(student, rng):
    yield from heard(student, rng, causal=False)


@question.scenario("No word of a decoder hears padding.")
def a_decoder_and_padding(student, rng):
    yield from heard(student, rng, causal=True)


@question.scenario("The first batch that a model sees may hold padding, too.", weight=0.5)
def padding_at_once(student, rng):
    for causal in (False, True):
        ids = words(rng, 2, 6, 9)
        ids[:, 2] = ids[0, 5] = 0
        (found,) = logits(model(student, rng, 9, 6, 3, 8, 2, 9, causal), ids)
        yield Observed("the logits of the words", found[ids != 0])


@question.scenario("A decoder's guess depends on all tokens up to its own, an encoder's on every one.")
def past_and_future(student, rng):
    for causal in (False, True):
        ids = rng.permutation(np.arange(2, 12))[None, :6]
        others = np.repeat(ids, 6, axis=0)
        np.fill_diagonal(others, 12)  # row t has another token at place t
        found, moved = logits(model(student, rng, 13, 6, 2, 9, 2, 7, causal), ids, others)
        yield Observed("which guesses change with each token", (np.abs(moved - found) > 1e-9).any(axis=2))


class Right(nn.Module):
    """The right model; the wrong ones change one step of it."""

    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__()
        self.embedding = nn.Embedding(V, d_model)
        self.position = nn.Embedding(max_length, d_model)
        self.blocks = nn.ModuleList(EncoderBlock(d_model, heads, d_ff) for _ in range(layers))
        self.head = nn.Linear(d_model, V)
        self.causal, self.d_model = causal, d_model

    def _embed(self, ids):
        return self.embedding(ids) + self.position.weight[: ids.shape[1]]

    def _mask(self, ids):
        T = ids.shape[1]
        padding = (ids != 0).unsqueeze(1)
        return padding & torch.ones(T, T, dtype=torch.bool).tril() if self.causal else padding

    def forward(self, ids):
        x, mask = self._embed(ids), self._mask(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


@question.misconception("the future is visible", costs=3)
class LooksAhead(Right):
    """Your decoder sees the tokens that it is to guess: causal changes nothing. Its loss will fall nearly to zero in training, and it will
    write nonsense."""

    def _mask(self, ids):
        return (ids != 0)[:, None, :]


@question.misconception("an encoder that sees one side", costs=2.5)
class AlwaysCausal(Right):
    """Your encoder sees only what is before. The causal mask belongs to the decoder: apply it only if causal is true."""

    def _mask(self, ids):
        return (ids != 0)[:, None, :] & torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()


@question.misconception("padding is heard", costs=2)
class HearsPadding(Right):
    """Your model attends to padding, so what it says about a sentence depends on how long the others in the batch are. Mask number 0 as
    a key."""

    def _mask(self, ids):
        T = ids.shape[1]
        allowed = torch.ones(T, T, dtype=torch.bool)
        return allowed.tril() if self.causal else allowed


@question.misconception("no positions", costs=2.5)
class NoPositions(Right):
    """Your model does not add the positions, so an encoder can't tell a sentence from its shuffled words."""

    def _embed(self, ids):
        return self.embedding(ids)


@question.misconception("probabilities instead of logits", costs=2.5)
class Probabilities(Right):
    """Your model ends with a softmax. Logits are asked for: cross_entropy takes the softmax itself, and two of them flatten all differences."""

    def forward(self, ids):
        return super().forward(ids).softmax(dim=-1)


@question.misconception("only the first block is used", costs=2)
class OneBlock(Right):
    """The number of layers changes nothing in your result: every block should take what the one before it returned."""

    def forward(self, ids):
        x, mask = self._embed(ids), self._mask(ids)
        for block in self.blocks:
            y = block(x, mask)
        return self.head(y)


@question.misconception("padding is masked as a query", costs=2.5)
class PaddingAsQuery(Right):
    """You silence the rows of padding: it hears nothing. It is the columns that count: no word may hear padding, so it is masked as a key,
    (ids != 0) with its new axis in the middle."""

    def _mask(self, ids):
        T = ids.shape[1]
        own = torch.eye(T, dtype=torch.bool)
        rows = (ids != 0)[:, :, None].expand(-1, T, T) | own
        return rows & torch.ones(T, T, dtype=torch.bool).tril() if self.causal else rows


@question.misconception("log-probabilities instead of logits", costs=1)
class LogProbabilities(Right):
    """Your model ends with a log_softmax. Logits are asked for: cross_entropy takes it itself."""

    def forward(self, ids):
        return super().forward(ids).log_softmax(dim=-1)


@question.misconception("the head shares the embedding's weight", costs=1, because="many models do that")
class TiedHead(Right):
    """Your head has the embedding's weight, one and the same (many models do that, this one does not): give it weights of its own, nn.Linear(d_model, V)."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.head.weight = self.embedding.weight


@question.alternative
class WithMaskByComparison(nn.Module):
    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__()
        self.head = nn.Linear(d_model, V)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(EncoderBlock(d_model, heads, d_ff))
        self.position = nn.Embedding(max_length, d_model)
        self.embedding = nn.Embedding(V, d_model, padding_idx=0)  # changes no value
        self.register_buffer("order", torch.arange(max_length), persistent=False)
        self.causal = bool(causal)

    def forward(self, ids):
        B, T = ids.shape
        places = self.order[:T]
        future = places[None, :] > places[:, None]
        forbidden = (ids == 0).view(B, 1, T).expand(B, T, T)
        if self.causal:
            forbidden = forbidden | future
        x = self.position(places).repeat(B, 1, 1) + self.embedding(ids)
        for block in self.blocks:
            x = block(x, mask=~forbidden)
        return x @ self.head.weight.T + self.head.bias
