"""Lab 12, Transformer(source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0): source (B, S), target (B, T) → logits."""

import math

import torch
from coursekit.provided.p06_positions import sinusoidal
from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock
from torch import nn

from autograder.questions.engine import Observed, Question
from autograder.questions.m09_blocks.common import block_shapes, tensor
from autograder.questions.m12_translator.common import PAD, UNKNOWN


class SentenceBySentence(nn.Module):
    """Every sentence on its own: padding is cut off, not masked; positions one number at a time."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__()
        self.source_embedding, self.target_embedding = (
            nn.Embedding.from_pretrained(torch.randn(size, d_model) / math.sqrt(d_model), freeze=False)
            for size in (source_size, target_size)
        )
        self.encoder, self.decoder = (
            nn.ModuleList([kind(d_model, heads, d_ff, dropout) for _ in range(layers)])
            for kind in (EncoderBlock, DecoderBlock)
        )

    def words(self, table, numbers):
        D = table.weight.shape[1]
        angles = [[t / 10000.0 ** (2 * (i // 2) / D) for i in range(D)] for t in range(len(numbers))]
        places = [[math.cos(a) if i % 2 else math.sin(a) for i, a in enumerate(row)] for row in angles]
        return math.sqrt(D) * table.weight[numbers][None] + torch.tensor(places, dtype=table.weight.dtype)

    def encode(self, source):
        mask = torch.tensor([[[int(word) != PAD for word in row]] for row in source])
        memory = torch.zeros(*source.shape, self.source_embedding.weight.shape[1], dtype=torch.double)
        for b, row in enumerate(source):
            x = self.words(self.source_embedding, row[mask[b, 0]])
            for block in self.encoder:
                x = block(x)
            memory[b, mask[b, 0]] = x[0].double()
        return memory, mask

    def decode(self, target, memory, memory_mask):
        T, said = target.shape[1], []
        before = torch.tensor([[key <= query for key in range(T)] for query in range(T)])
        for row, heard, mask in zip(target, memory, memory_mask, strict=True):
            y = self.words(self.target_embedding, row)
            for block in self.decoder:
                y = block(y, heard[mask[0]][None].to(y.dtype), before)
            said.append(nn.functional.linear(y, self.target_embedding.weight))
        return torch.cat(said)

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


question = Question(
    SentenceBySentence,
    forbidden=tuple(
        f"torch.nn.Transformer{part}" for part in ("", "Encoder", "Decoder", "EncoderLayer", "DecoderLayer")
    ),
)

#: Steps in single precision on the way, through several blocks.
ROUNDED = {"rtol": 1e-4, "atol": 1e-4}
SIZES, TWO_LAYERS = (9, 11, 6, 3, 5, 1), (9, 11, 6, 3, 5, 2)


def shapes(source_size, target_size, d_model, heads, d_ff, layers):
    """The shapes of all that is learned, by name."""
    sides = {"encoder": (("attention",), 2), "decoder": (("self_attention", "cross_attention"), 3)}
    found = {
        "source_embedding.weight": (source_size, d_model),
        "target_embedding.weight": (target_size, d_model),
    }
    for side, (attentions, norms) in sides.items():
        for n in range(layers):
            block = block_shapes(attentions, norms, d_model, d_ff)
            found |= {f"{side}.{n}.{name}": shape for name, shape in block.items()}
    return found


# Weights follow from their names, those of an additional part from its shape.
MODEL = """
import zlib

import numpy as np
import torch

torch.manual_seed(seed)
model = student_namespace[question](*sizes).double().eval()
learned = {id(value): value for value in model.parameters() if value.requires_grad}
named = dict(model.named_parameters(remove_duplicate=False))
wanted = {id(named[name]): name for name in names if name in named}
with torch.no_grad():
    for key, value in learned.items():
        draw = np.random.default_rng([seed, zlib.crc32(wanted[key].encode())] if key in wanted else [seed, *value.shape])
        value.copy_(torch.tensor(draw.normal(size=tuple(value.shape))) / max(1, value.shape[-1] * (value.ndim > 1)) ** 0.5)
"""


def built(student, rng, sizes=SIZES, dropout=()):
    """The student's model with weights drawn anew, in double precision and evaluation mode."""
    names, seed = list(shapes(*sizes)), int(rng.integers(1 << 30))
    return student.scene(MODEL, question=student.name, sizes=(*sizes, *dropout), names=names, seed=seed)[
        "model"
    ]


def words(rng, *shape, size=9):
    return torch.tensor(rng.integers(4, size, size=shape))


def array(value):
    return torch.as_tensor(value).detach().double()


def same(one, other):
    one, other = array(one), array(other)
    return one.shape == other.shape and torch.allclose(one, other, **ROUNDED)


def asks(gradients, side):
    """Whether what is said depends on the weights of a side's blocks."""
    return any(
        gradient is not None and float(array(gradient).abs().max()) > 1e-9
        for name, gradient in gradients.items()
        if name.startswith(f"{side}.")
    )


@question.scenario("What is learned has the names and the shapes of the text, and nothing else is.")
def what_is_learned(student, rng):
    names = list(shapes(*TWO_LAYERS))
    yield Observed("what is learned", student(*TWO_LAYERS).parameters(names))


@question.scenario("Both embeddings start with mean 0 and standard deviation 1/√d_model.")
def first_weights(student, rng):
    state = student(300, 250, 64, 2, 8, 1).state_dict()
    for name in ("source_embedding.weight", "target_embedding.weight"):
        table = array(state[name])
        yield Observed(f"{name}: the mean is about 0", abs(float(table.mean())) < 0.02)
        spread = float(8 * table.std())  # to one digit, for it is a matter of chance
        about = 1.0 if 0.94 < spread < 1.06 else float(f"{spread:.0e}")
        yield Observed(f"{name}: the standard deviation times √d_model, about", about)


@question.scenario("encode: scaled embeddings, positions and all blocks; and its mask.")
def the_memory(student, rng):
    for B, S, sizes in ((2, 5, TWO_LAYERS), (3, 4, (9, 11, 4, 1, 3, 2))):
        memory, mask = built(student, rng, sizes).call("encode", words(rng, B, S))
        yield Observed("the memory", memory, **ROUNDED)
        yield Observed("the memory mask", mask)


@question.scenario("encode, with one block, for one sentence.")
def one_block(student, rng):
    model = built(student, rng)
    for S in (1, 6):
        memory, _ = model.call("encode", words(rng, 1, S))
        yield Observed("the memory", memory, **ROUNDED)


@question.scenario("decode: the logits for a memory and a mask that are given.", weight=2)
def decode_by_itself(student, rng):
    for B, S, T, sizes in ((2, 5, 4, TWO_LAYERS), (1, 1, 1, (9, 11, 4, 2, 3, 1))):
        model = built(student, rng, sizes)
        memory, target, other = tensor(rng, B, S, sizes[2]), words(rng, B, T, size=11), words(rng, B, S)
        other[:, 1:] = PAD  # read in between, and none of decode's business
        model.call("encode", other)
        logits = model.call("decode", target, memory, torch.ones(B, 1, S, dtype=torch.bool))
        yield Observed("the logits", logits, **ROUNDED)


@question.scenario("The logits of full sentences, up to 64 words long.")
def full_sentences(student, rng):
    for B, S, T, sizes in ((2, 5, 4, SIZES), (1, 64, 64, (9, 11, 4, 2, 2, 1))):
        model = built(student, rng, sizes)
        logits = model(words(rng, B, S), words(rng, B, T, size=11))
        yield Observed("the model changes its arguments", bool(model.mutated))
        yield Observed("the last logits", array(logits)[:, -3:], **ROUNDED)


@question.scenario(
    "Padding of the source is never heard: a sentence says in a batch what it says alone.", weight=3
)
def padding(student, rng):
    model, source, target = built(student, rng), words(rng, 3, 6), words(rng, 3, 4, size=11)
    source[0, 2:], source[2, 5:] = PAD, PAD
    memory, logits = array(model.call("encode", source)[0]), array(model(source, target))
    for row, (s, t) in enumerate(zip(source, target, strict=True)):
        alone = s[s != PAD][None]
        found = model.call("encode", alone)[0], model(alone, t[None])
        yield Observed(
            f"sentence {row}, as in the batch: what is heard of it, and what is said",
            [same(memory[row : row + 1, : alone.shape[1]], found[0]), same(logits[row : row + 1], found[1])],
        )
    others = source.clone(), target.clone()
    for other in others:
        other[0, 0] = 4 + (other[0, 0] - 3) % 5  # the next word
    heard = [not same(model(others[0], target)[0, -1:], logits[0, -1:])]
    heard += [not same(model(source, others[1])[0, -1:], logits[0, -1:])]
    yield Observed("the first words of source and target are heard", heard)
    yield Observed("the memory mask", model.call("encode", source)[1])


@question.scenario("Unknown words of the source are heard.", weight=2)
def unknown_words(student, rng):
    model, source, target = built(student, rng), torch.tensor([[5, UNKNOWN, 7, 8]]), words(rng, 1, 3, size=11)
    yield Observed("the memory mask", model.call("encode", source)[1])
    found = model.gradients([source, target], cotangent=tensor(rng, 1, 3, 11)).parameters
    yield Observed("the blocks are asked", [asks(found, side) for side in ("encoder", "decoder")])
    yield Observed("the words that are heard", reached(found["source_embedding.weight"], source[0]))


def reached(gradient, numbers):
    """Which of these words the gradient of a table reaches."""
    return (array(gradient)[numbers].abs().amax(dim=1) > 1e-12).tolist()


@question.scenario("The future is never heard, and all words up to a place are.", weight=2.5)
def the_future(student, rng):
    model, source = built(student, rng), words(rng, 1, 4)
    target = torch.tensor(rng.permutation(range(5, 11))[:5])[None]
    for place in (0, 3):
        cotangent = torch.zeros(1, 5, 11, dtype=torch.double)
        cotangent[0, place, 4] = 1  # the logit of a word that the target does not have
        found = model.gradients([source, target], cotangent=cotangent).parameters
        yield Observed("the decoder is asked", asks(found, "decoder"))
        yield Observed("the words that are heard", reached(found["target_embedding.weight"], target[0]))


@question.scenario("Every part learns, and the German table by both its uses.", weight=2.5)
def gradients(student, rng):
    model, source, target = built(student, rng), words(rng, 2, 5), words(rng, 2, 3, size=7)
    found = model.gradients([source, target], cotangent=tensor(rng, 2, 3, 11)).parameters
    yield Observed("what gets no gradient", [name for name in shapes(*SIZES) if found.get(name) is None])
    yield Observed("the blocks are asked", [asks(found, side) for side in ("encoder", "decoder")])
    table = found["target_embedding.weight"]
    yield Observed("words outside of the target learn", all(reached(table, torch.arange(7, 11))))
    yield Observed("the gradient of the German table", table, rtol=1e-3, atol=1e-4)


@question.scenario("Dropout reaches the blocks of both sides, and acts in training only.")
def dropout_in_the_blocks(student, rng):
    model, source, target = built(student, rng, dropout=(0.5,)), words(rng, 3, 5), words(rng, 3, 4, size=11)
    yield Observed("the logits in evaluation mode", array(model(source, target))[:, -1:], **ROUNDED)
    memory, mask = model.call("encode", source)
    model.train()
    encoded = [array(model.call("encode", source)[0]) for _ in range(2)]
    yield Observed("two runs of the encoder differ", not torch.equal(*encoded))
    decoded = [array(model.call("decode", target, memory, mask)) for _ in range(2)]
    yield Observed("two runs of the decoder differ", not torch.equal(*decoded))


# Blocks are taken out, so that only what happens around them is left.
BARE = """
import torch
from torch import nn

torch.manual_seed(seed)
model = student_namespace[question](*sizes, 0.5).double().train()
model.encoder, model.decoder = nn.ModuleList(), nn.ModuleList()
found = []
for mode in (True, False):
    memory, mask = model.train(mode).encode(english)
    found += [memory, model.decode(german, memory, mask)]
"""


@question.scenario("Dropout acts nowhere but in the blocks.")
def dropout_elsewhere(student, rng):
    given = {"english": words(rng, 2, 5), "german": words(rng, 2, 4, size=11), "sizes": SIZES}
    scene = student.scene(BARE, question=student.name, seed=int(rng.integers(1 << 30)), **given)
    memory, logits, quiet_memory, quiet_logits = map(array, scene["found"])
    for name, loud, quiet in (("memory", memory, quiet_memory), ("logits", logits, quiet_logits)):
        yield Observed(f"the {name} in training are those in evaluation", same(loud, quiet))
        yield Observed(f"the {name} of two sentences differ", not same(quiet[0], quiet[1]))
        yield Observed(f"the shape of the {name}", list(quiet.shape))


class Parts(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__()
        self.root = math.sqrt(d_model)
        self.source_embedding = nn.Embedding(source_size, d_model)
        self.target_embedding = nn.Embedding(target_size, d_model)
        for table in (self.source_embedding, self.target_embedding):
            nn.init.normal_(table.weight, std=d_model**-0.5)
        self.encoder = nn.ModuleList(EncoderBlock(d_model, heads, d_ff, dropout) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderBlock(d_model, heads, d_ff, dropout) for _ in range(layers))

    def embed(self, numbers, table):
        return table(numbers) * self.root + self.places(numbers, table)

    def places(self, numbers, table):
        return torch.tensor(sinusoidal(numbers.shape[1], table.embedding_dim)).to(table.weight.dtype)

    def source_mask(self, source):
        return (source != PAD).unsqueeze(1)

    def so_far(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril()

    def encode(self, source):
        mask = self.source_mask(source)
        x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(x, mask)
        return x, mask

    def decode(self, target, memory, memory_mask):
        y = self.embed(target, self.target_embedding)
        for block in self.decoder:
            y = block(y, memory, self.so_far(target.shape[1]), memory_mask)
        return self.choose(y)

    def choose(self, y):
        return y @ self.target_embedding.weight.T

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


@question.misconception("the embeddings are not scaled", costs=2)
class TransformerWithoutTheRoot(Parts):
    """Your embeddings are not multiplied by √d_model. They start small, so next to the positions the words would hardly be heard."""

    def embed(self, numbers, table):
        return table(numbers) + self.places(numbers, table)


@question.misconception("the root scales the positions, too", costs=2)
class TransformerWithScaledPositions(Parts):
    """Your positions are multiplied by √d_model together with the words. Multiply the embedding first, then add the position."""

    def embed(self, numbers, table):
        return (table(numbers) + self.places(numbers, table)) * self.root


@question.misconception("no positions", costs=2.5)
class TransformerWithoutPositions(Parts):
    """Your words have no positions, so that the order of the words makes no difference to the encoder. Add sinusoidal(T, d_model)."""

    def embed(self, numbers, table):
        return table(numbers) * self.root


@question.misconception("the memory mask has its axis in the wrong place", costs=2, because="one wrong axis")
class TransformerWithAMaskForOne(Parts):
    """With one sentence your model works, with a batch it stops: the mask of the memory is (1, B, S) where (B, 1, S) is needed. The axis
    for the queries stands in the middle."""

    def source_mask(self, source):
        return (source != PAD).unsqueeze(0)


@question.misconception("the encoder's blocks are not stacked", costs=2)
class TransformerOfUnstackedBlocks(Parts):
    """Each block of your encoder gets the embeddings, and only what the last one makes of them counts. A block gets what the block
    before it returned."""

    def encode(self, source):
        mask = self.source_mask(source)
        words = x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(words, mask)
        return x, mask


@question.misconception("no causal mask", costs=2.5)
class TransformerThatPeeks(Parts):
    """Your decoder hears the words that it is to say: there is no causal mask in its self-attention. In training it copies, and
    when it translates there is nothing to copy."""

    def so_far(self, T):
        return None


@question.misconception("the causal mask is turned around", costs=2.5, because="one of three masks is wrong")
class TransformerThatHearsTheFuture(Parts):
    """Your mask lets each word hear itself and what comes after it: the triangle is the wrong one. True means "may attend"."""

    def so_far(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu()


@question.misconception("the encoder hears the padding", costs=2)
class TransformerWhoseEncoderHearsPadding(Parts):
    """Your encoder's words listen to the padding, so that a sentence changes with the company it has in its batch. The blocks of the encoder
    need the mask, too."""

    def encode(self, source):
        x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(x)
        return x, self.source_mask(source)


@question.misconception("the decoder hears the padding", costs=2)
class TransformerWhoseDecoderHearsPadding(Parts):
    """Your German words listen to the English padding: cross-attention needs the memory mask."""

    def decode(self, target, memory, memory_mask):
        return super().decode(target, memory, None)


@question.misconception("an output matrix of its own", costs=2)
class TransformerThatIsNotTied(Parts):
    """Your model learns one more matrix of the German table's size, for the output. The German embedding does both jobs: the same table, not a copy that
    begins with the same numbers."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.output = nn.Linear(d_model, target_size, bias=False)

    def choose(self, y):
        return self.output(y)


@question.misconception("the same block in every layer", costs=2)
class TransformerOfOneBlock(Parts):
    """Your layers are one block, used several times: [block] * layers repeats the same object. Build a new block for each layer."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.encoder = nn.ModuleList([EncoderBlock(d_model, heads, d_ff, dropout)] * layers)
        self.decoder = nn.ModuleList([DecoderBlock(d_model, heads, d_ff, dropout)] * layers)


@question.misconception("embeddings as large as PyTorch makes them", costs=1)
class TransformerWithLoudEmbeddings(Parts):
    """Your embeddings start with standard deviation 1. Times √d_model they drown the positions, and the first logits are huge. Draw them
    with standard deviation 1/√d_model."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.source_embedding.reset_parameters()
        self.target_embedding.reset_parameters()


@question.misconception("probabilities instead of logits", costs=2)
class TransformerWithASoftmax(Parts):
    """Your model returns probabilities. The loss and the search do the softmax themselves; return the logits."""

    def choose(self, y):
        return super().choose(y).softmax(dim=-1)


@question.misconception("the dropout is not passed on", costs=1)
class TransformerWithoutDropout(Parts):
    """Your model takes a dropout and does nothing with it: pass it on to every block."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers)


@question.misconception("unknown words are masked like padding", costs=1)
class TransformerThatHidesUnknownWords(Parts):
    """Your mask of the source hides UNKNOWN as well. Only PAD is hidden: that there is a word, and where, counts even if nobody knows it."""

    def source_mask(self, source):
        return (source > 3).unsqueeze(1)


@question.alternative
class TransformerWithATiedLinear(Parts):
    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.source_embedding.padding_idx = self.target_embedding.padding_idx = PAD  # changes no value
        self.output = nn.Linear(d_model, target_size, bias=False)
        self.output.weight = self.target_embedding.weight

    def choose(self, y):
        return self.output(y)


@question.alternative
class TransformerWithFrozenPositions(Parts):
    """A table that is a parameter and is not learned."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.table = nn.Parameter(torch.tensor(sinusoidal(64, d_model)), requires_grad=False)

    def places(self, numbers, table):
        return self.table[: numbers.shape[1]].to(table.weight.dtype)


@question.alternative
class TransformerWithFullMasks(Parts):
    """Masks of shape (B, T, T), with the target's padding masked, too, wherever a word is left to hear."""

    def decode(self, target, memory, memory_mask):
        B, T = target.shape
        y = self.embed(target, self.target_embedding)
        mask = self.so_far(T).expand(B, T, T)
        for block in self.decoder:
            y = block(y, memory, self_mask=mask, memory_mask=memory_mask.expand(B, T, -1))
        return nn.functional.linear(y, self.target_embedding.weight)
