"""Hidden tests of lab 12: batches by hand, the model against one wired up here, search by brute force, sacreBLEU."""

from __future__ import annotations

import itertools
import math

import numpy as np
import sacrebleu
import torch
from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock
from torch import nn

from autograder.testing import Handle, as_array, expect, expect_close, expect_equal, hidden_test

PAD, BOS, EOS = 0, 1, 2

#: Mutants of the master's solutions that compute the same.
EQUIVALENT_MUTANTS = {
    "Transformer: mask = (source > PAD).unsqueeze(1)": "PAD is 0, and no word number is negative",
    'Transformer: self.register_buffer("positions", torch.as_tensor(sinusoidal( 65, d_model)), persistent=False)': "a table may have more rows than are used",
    'Transformer: self.register_buffer("positions", torch.as_tensor(sinusoidal(64, d_model)), persistent=True)': "only a file of weights is larger",
    "translate: logits = model.decode(torch.tensor(prefixes), memory.expand(n, -1, -1), memory_mask.expand(n, +1, -1))": "that axis has length 1",
    "translate: return logits[:, -1].double().log_softmax(dim=+1).numpy()": "the same axis",
    "bleu: if matches <= 0:": "a count is never negative",
}

# ---------------------------------------------------------------------------------------------- make_batch


def _pairs(rng, source_lengths, target_lengths):
    def words(length):
        return rng.integers(4, 99, size=length).tolist()

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


_LENGTHS = (
    ((3, 1), (1, 2)),
    ((1, 4, 2), (5, 3, 1)),
    ((2,), (4,)),
    ((1, 1, 1, 1), (1, 1, 1, 1)),
    ((6, 2), (3, 3)),
)


@hidden_test("make_batch")
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


# --------------------------------------------------------------------------------------------- Transformer


def _positions(T, D):
    """Sines and cosines in turn, one number at a time."""
    table = torch.zeros(T, D, dtype=torch.double)
    for t, i in itertools.product(range(T), range(D)):
        angle = t / 10000.0 ** (2 * (i // 2) / D)
        table[t, i] = math.cos(angle) if i % 2 else math.sin(angle)
    return table


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
        T = len(target)
        memory, y = self.encode(source), self.words(self.target_embedding, target)
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
    learned = model.parameters()
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
    expect_close(logits, expected, "the logits", rtol=1e-6, atol=1e-6)


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


@hidden_test("Transformer", weight=2)
def test_the_memory_is_right(student, rng):
    """encode: scaled embeddings, positions and all blocks, with other sizes and lengths; and its mask."""
    for B, S, D, h, layers in ((2, 5, 12, 3, 2), (1, 1, 8, 2, 1), (3, 7, 6, 1, 3)):
        model, reference = _twins(student, rng, d_model=D, heads=h, layers=layers)
        source = _numbers(rng, B, S)
        result = model.call("encode", source)
        good = isinstance(result, (tuple, list)) and len(result) == 2
        expect(good, "encode should return two things: memory, memory_mask")
        expected = np.concatenate([reference.encode(s).detach().numpy() for s in source])
        expect_close(result[0], expected, "the memory", rtol=1e-6, atol=1e-6)
        expect_equal(result[1], np.ones((B, 1, S), dtype=bool), "the memory mask")


@hidden_test("Transformer", weight=2)
def test_the_logits_are_right(student, rng):
    """Full sentences through encoder and decoder, with other sizes and lengths, agree with a model wired up by hand."""
    sizes = ((2, 5, 4, 12, 3, 2), (1, 1, 1, 8, 2, 1), (3, 2, 6, 6, 1, 3), (1, 64, 64, 4, 2, 1))
    for B, S, T, D, h, layers in sizes:
        model, reference = _twins(student, rng, d_model=D, heads=h, layers=layers)
        _expect_logits(model, reference, _numbers(rng, B, S), _numbers(rng, B, T))
        expect(not model.mutated, "your model changes its arguments")


@hidden_test("Transformer", weight=3)
def test_padding_is_never_heard(student, rng):
    """Sentences in a padded batch get the logits that they get alone, in the encoder and in the decoder."""
    model, reference = _twins(student, rng)
    source, target = _numbers(rng, 3, 6), _numbers(rng, 3, 4)
    source[0, 2:], source[2, 5:] = PAD, PAD
    _expect_logits(model, reference, source, target)
    _, mask = model.call("encode", source)
    expect_equal(mask, (source != PAD).numpy()[:, None], "the memory mask")


@hidden_test("Transformer", weight=3)
def test_the_future_is_never_heard(student, rng):
    """The gradient that reaches words after a place is exactly zero, and those up to it all count."""
    model, reference = _twins(student, rng)
    source = _numbers(rng, 1, 5)
    target = torch.tensor(rng.permutation(np.arange(5, 23))[:6])[None]
    for place in (0, 2, 5):
        cotangent = torch.zeros(1, 6, 23, dtype=torch.double)
        cotangent[0, place, 4] = 1  # the logit of a word that the target does not have
        gradient = model.gradients([source, target], cotangent=cotangent).parameters[
            "target_embedding.weight"
        ]
        expect(gradient is not None, "no gradient reaches the target embedding: is something detached?")
        reached = as_array(gradient, "a gradient")[target[0].numpy()]
        expect((reached[place + 1 :] == 0).all(), "a word hears words that come after it")
        reference.zero_grad()
        reference(source[0], target[0])[place, 4].backward()
        expected = reference.target_embedding.weight.grad[target[0]].numpy()
        expect_close(reached, expected, "the gradient of the words up to a place", rtol=1e-5, atol=1e-7)


@hidden_test("Transformer", weight=2)
def test_one_table_reads_and_chooses(student, rng):
    """The target embedding gets its gradient from both its uses, as input and as output, and so do all other weights."""
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
    source, target = _numbers(rng, 2, 5), _numbers(rng, 2, 4)
    model.train()
    first, second = (as_array(model.call("encode", source)[0], "the memory") for _ in range(2))
    expect(
        not np.allclose(first, second),
        "with dropout = 0.5 two runs of the encoder in training are the same: pass it to the blocks",
    )
    memory, mask = torch.tensor(first, dtype=torch.float64), torch.ones(2, 1, 5, dtype=torch.bool)
    first, second = (as_array(model.call("decode", target, memory, mask), "the logits") for _ in range(2))
    expect(
        not np.allclose(first, second),
        "with dropout = 0.5 two runs of the decoder in training are the same: pass it to its blocks, too",
    )
    model.eval()
    expected = as_array(still(source, target), "the logits")
    expect_close(model(source, target), expected, "the logits in evaluation mode", rtol=1e-6, atol=1e-6)


# Blocks are taken out, so that only what happens around them is left.
_BARE = """
import torch
from torch import nn

torch.manual_seed(seed)
model = student_namespace[question](17, 23, 12, 3, 10, 2, 0.5).double().train()
model.encoder, model.decoder = nn.ModuleList(), nn.ModuleList()
tables = [table.weight.detach().clone() for table in (model.source_embedding, model.target_embedding)]
"""


@hidden_test("Transformer")
def test_dropout_acts_in_the_blocks_only(student, rng):
    """In training mode nothing is dropped from the words before the first block, nor from what comes out of the last one."""
    scene = student.scene(_BARE, question=student.name, seed=int(rng.integers(2**31)))
    source, target = _numbers(rng, 2, 5), _numbers(rng, 2, 4)
    scene.run("memory, mask = model.encode(english)", english=source)
    scene.run("logits = model.decode(german, memory, mask)", german=target)
    english, german = scene["tables"]
    words = math.sqrt(12) * german[target] + _positions(4, 12)
    expected = math.sqrt(12) * english[source] + _positions(5, 12)
    expect_close(scene.get("memory"), expected, "the words before the first block, in training,", atol=1e-6)
    expect_close(
        scene.get("logits"), words @ german.T, "the logits without any blocks, in training,", atol=1e-6
    )


# ----------------------------------------------------------------------------------------------- translate

# A small model with the methods of the question. What comes next depends on the source, on the last two
# words and on how many there are. It counts how often its encoder runs, and drops at random while it trains.
_SPY = """
import torch
from torch import nn


class Spy(nn.Module):
    def __init__(self, words, tables):
        super().__init__()
        self.words, self.dropout, self.encoded, self.recorded = words, nn.Dropout(0.5), 0, 0
        self.source_table, self.last, self.before, self.out = tables
        self.zero = nn.Parameter(torch.zeros(1, dtype=torch.double))

    def encode(self, source):
        self.encoded += 1
        return self.source_table[source], (source != 0).unsqueeze(1)

    def decode(self, target, memory, memory_mask):
        heard = (memory * memory_mask.transpose(1, 2)).sum(1, keepdim=True) / memory_mask.sum()
        earlier = torch.cat([torch.zeros_like(target[:, :1]), target[:, :-1]], dim=1)
        hidden = torch.tanh(self.last[target] + self.before[earlier] + heard * memory_mask.shape[0])
        logits = self.dropout(hidden) @ self.out + self.zero
        logits = logits.clone()
        logits[:, :, 2] += 0.5 * torch.arange(target.shape[1]) - 1.0
        self.recorded += int(logits.requires_grad)
        return logits + 40

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


model = Spy(words, tables)
"""


def _tables(rng, words=9, size=6):
    shapes = ((words, size), (words, size), (words, size), (size, words))
    return [torch.tensor(rng.normal(scale=1.3, size=shape)) for shape in shapes]


class _Case:
    """One spy in the sandbox, and the same tables here, by which every sentence can be scored."""

    def __init__(self, student, rng):
        self.tables = _tables(rng)
        self.scene = student.scene(_SPY, words=9, tables=self.tables)
        self.source = rng.integers(4, 9, size=int(rng.integers(1, 6))).tolist()

    def row(self, prefix):
        """Log-probabilities after ``prefix`` (with BOS)."""
        source, last, before, out = (table.numpy() for table in self.tables)
        earlier = prefix[-2] if len(prefix) > 1 else 0
        hidden = np.tanh(last[prefix[-1]] + before[earlier] + source[self.source].mean(axis=0))
        logits = hidden @ out
        logits[EOS] += 0.5 * (len(prefix) - 1) - 1.0
        return logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()

    def search(self, k, alpha, max_length):
        """A beam, without a cache: every hypothesis is scored from its first word, each time."""

        def score(said):
            total = sum(self.row([BOS, *said[:i]])[said[i]] for i in range(len(said)))
            return total / len(said) ** alpha

        beam: list[list[int]] = [[]]
        for _ in range(max_length):
            grown = []
            for said in beam:
                grown += [said] if said[-1:] == [EOS] else [[*said, word] for word in range(9)]
            beam = sorted(grown, key=score, reverse=True)[:k]
        return [word for word in beam[0] if word != EOS]


def _said(student, case, **options):
    result = student(case.scene["model"], case.source, **options)
    expect(result is not None, "your function returns None: does it end with a return?")
    return np.asarray(as_array(result, "the translation")).tolist()


@hidden_test("translate", weight=2)
def test_greedy_translations(student, rng):
    """With a beam of 1: the most probable word at each place, up to EOS or max_length."""
    for number in range(6):
        case = _Case(student, rng)
        options = {} if number < 3 else {"max_length": number - 1}
        expected = case.search(1, 0.0, options.get("max_length", 40))
        expect_equal(_said(student, case, **options), expected, "the greedy translation")


@hidden_test("translate", weight=2)
def test_translations_by_a_beam(student, rng):
    """Wider beams find what a search without any cache finds; a width of one and of several differ."""
    for k in (2, 3, 5):
        for _ in range(3):
            case = _Case(student, rng)
            expected = case.search(k, 0.0, 7)
            expect_equal(_said(student, case, beam=k, max_length=7), expected, "the translation by a beam")


@hidden_test("translate", weight=2)
def test_the_length_penalty_counts(student, rng):
    """The length penalty reaches the search."""
    different = 0
    while different < 3:
        case = _Case(student, rng)
        expected = case.search(3, 1.0, 6)
        if expected == case.search(3, 0.0, 6):
            continue
        different += 1
        said = _said(student, case, beam=3, length_penalty=1.0, max_length=6)
        expect_equal(said, expected, "the translation with a length penalty")


@hidden_test("translate", weight=3)
def test_the_encoder_runs_once(student, rng):
    """The encoder runs once for a sentence, and the cached memory changes no word of the result."""
    for k in (1, 3):
        case = _Case(student, rng)
        expect_equal(_said(student, case, beam=k, max_length=6), case.search(k, 0.0, 6), "the translation")
        case.scene.run("encoded = model.encoded")
        expect(case.scene.get("encoded") == 1, "the encoder should run exactly once for a sentence")


@hidden_test("translate", weight=3)
def test_a_model_in_training_is_put_right(student, rng):
    """A model that was training drops nothing while it translates, and nothing is recorded for gradients."""
    for _ in range(3):
        case = _Case(student, rng)
        case.scene.run("model.train()")
        expect_equal(_said(student, case, max_length=6), case.search(1, 0.0, 6), "the translation")
    case.scene.run("recorded = model.recorded")
    expect(case.scene.get("recorded") == 0, "gradients are recorded while decoding: use torch.no_grad()")


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


@hidden_test("bleu")
def test_the_sentence_of_the_text_scores(student):
    """The worked example of the text, and a perfect translation."""
    expect_close(student([list("abcde")], [list("abcdfg")]), 54.75182535069452, "BLEU of the text's example")
    expect_close(student([list("abcdef")], [list("abcdef")]), 100.0, "BLEU of a perfect translation")


@hidden_test("bleu", weight=3)
def test_a_corpus_scores_as_in_sacrebleu(student, rng):
    """Corpora of sentences of many lengths, with repeated words, agree with sacreBLEU."""
    for count in (5, 20, 60):
        references = _sentences(rng, rng.integers(5, 15, size=count))
        hypotheses = _garbled(rng, references)
        expect_close(student(hypotheses, references), _sacre(hypotheses, references), "BLEU", rtol=1e-6)
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
        expect_close(score, _sacre(hypotheses, references), "BLEU", rtol=1e-6)


@hidden_test("bleu", weight=2)
def test_sentences_with_few_words(student, rng):
    """Sentences too short for n-grams, empty ones, and none that match: counts still sum over the corpus."""
    references = [*_sentences(rng, [1, 2, 3]), *_sentences(rng, [9, 10], "abcdefghij")]
    hypotheses = [*references[:2], [], references[3], [*references[4][:6], "x"]]
    expect_close(student(hypotheses, references), _sacre(hypotheses, references), "BLEU", rtol=1e-6)
    case = [word.upper() for word in references[3]]
    capitals = [references[4], case], [references[4], references[3]]
    expect_close(student(*capitals), _sacre(*capitals), "BLEU of words that differ in case", rtol=1e-6)
    expect_close(student([list("abxcd")], [list("abcd")]), 0.0, "BLEU without any 3-gram in common")
    expect_close(student([list("abc"), ["x"]], [list("abc"), ["x"]]), 0.0, "BLEU without any 4-gram at all")
