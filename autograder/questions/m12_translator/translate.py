"""Lab 12, translate: model, source (a list of word numbers) → the best translation of a beam, a list of word numbers."""

import math
from itertools import pairwise

import numpy as np
import torch
from coursekit.provided.p11_decoding import beam_search

from autograder.questions.engine import Observed, Question
from autograder.questions.m12_translator.common import BOS, EOS, UNKNOWN


def sentence_by_sentence(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Each hypothesis is asked by itself, and its probability is a sum over its words."""
    model.eval()
    with torch.no_grad():
        memory, mask = model.encode(torch.tensor([list(source)]))
        kept = [([], 0.0)]
        for _ in range(max_length):
            longer = [one for one in kept if one[0][-1:] == [EOS]]
            for said, total in kept:
                if said[-1:] != [EOS]:
                    row = model.decode(torch.tensor([[BOS, *said]]), memory, mask)[0, -1].tolist()
                    whole = max(row) + math.log(sum(math.exp(number - max(row)) for number in row))
                    longer += [([*said, word], total + number - whole) for word, number in enumerate(row)]
            longer.sort(key=lambda one: one[1] / len(one[0]) ** length_penalty, reverse=True)
            kept = longer[:beam]
    return [word for word in kept[0][0] if word != EOS]


question = Question(sentence_by_sentence, uses=("make_batch",))

# A model that says what a table of the scenario tells it: it is not in the sandbox, so how often it is asked is known here.
SPY = """
import torch
from torch import nn


class Spy(nn.Module):
    def __init__(self):
        super().__init__()
        self.zero = nn.Parameter(torch.zeros(1, dtype=torch.double))
        self.register_buffer("known", torch.arange(size))

    def encode(self, source):
        memory = read(self.known[source], (self.zero + 0).requires_grad, self.training)
        return memory + 0 * self.zero, (source != 0).unsqueeze(1)

    def decode(self, target, memory, memory_mask):
        heard = (memory * memory_mask.transpose(1, 2)).sum(1) / memory_mask.sum(2)
        heard = heard.detach() * torch.ones(len(target), 1)
        recorded = (self.zero + 0).requires_grad
        return say(self.known[target], heard, recorded, self.training) + self.zero

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


model = Spy().train(training)
"""
SIZE = 12


class Told:
    """P(next word | last word) as a table {word: {next: probability}}, and what was asked; ``listens``: another source, another language."""

    def __init__(self, rng, table, listens=False):
        rows = np.full((SIZE, SIZE), 1e-9)
        for word, following in table.items():
            rows[word, list(following)] = list(following.values())
        self.rows = np.log(rows)
        self.source = rng.permutation(np.arange(4, 4 + 2 * rng.integers(1, 4))).tolist()
        self.codes, self.listens = rng.normal(size=SIZE), listens
        self.read_by_encoder, self.recorded, self.training = [], set(), set()

    def noted(self, where, recorded, training):
        self.recorded |= {where} if recorded is not False else set()
        self.training |= {where} if training is not False else set()

    def read(self, source, recorded, training):
        """(1, S) → the memory (1, S, 1)."""
        self.noted("encoder", recorded, training)
        self.read_by_encoder.append(np.asarray(source).tolist())
        return torch.tensor(self.codes[np.asarray(source)][:, :, None])

    def say(self, target, heard, recorded, training):
        """(n, T), what is heard (n, 1) → logits (n, T, SIZE), far from log-probabilities."""
        self.noted("decoder", recorded, training)
        logits = self.rows[np.asarray(target)] + 40.0
        if self.listens:
            deaf = abs(np.asarray(heard)[:, 0] - self.codes[self.source].mean()) > 1e-4
            logits[deaf] = np.eye(SIZE)[EOS] * 40
        return torch.tensor(logits)

    def scene(self, student, training=False):
        return student.scene(SPY, read=self.read, say=self.say, size=SIZE, training=training)


def translation(student, told, scene=None, **options):
    said = student((scene or told.scene(student))["model"], told.source, **options)
    return Observed("the translation", np.asarray(said).tolist())


def some_words(rng, count):
    return rng.permutation(np.arange(4, SIZE))[:count].tolist()


def sure(*sentence):
    """A table by which this sentence is said, word after word, and another ending now and then."""
    words = [BOS, *sentence, EOS]
    return {word: {after: 0.8, EOS: 0.2} if after != EOS else {EOS: 1.0} for word, after in pairwise(words)}


def garden_path(rng):
    """Greedy says [b] (.6 · .4); a beam of two finds [a, c] (.4 · .9)."""
    a, b, c, d, e = some_words(rng, 5)
    return {BOS: {a: 0.4, b: 0.6}, b: {EOS: 0.4, d: 0.3, e: 0.3}, a: {c: 0.9, EOS: 0.1}, c: {EOS: 1.0}}


@question.scenario("With a beam of 1: the most probable word at each place, up to EOS.", weight=2)
def greedy(student, rng):
    for table in (sure(*some_words(rng, 4)), garden_path(rng)):
        yield translation(student, Told(rng, table))


@question.scenario("After max_length words it ends, and the last of them stays.", weight=1.5)
def without_an_end(student, rng):
    a, b, c = some_words(rng, 3)
    told = Told(rng, {BOS: {a: 1.0}, a: {b: 1.0}, b: {c: 1.0}, c: {a: 1.0}})
    for limit in (1, 5):
        yield translation(student, told, max_length=limit)


@question.scenario("An unknown word stays in the translation: it is a word like any other.", weight=1.5)
def unknown_words(student, rng):
    a, b = some_words(rng, 2)
    yield translation(student, Told(rng, sure(a, UNKNOWN, b)))


@question.scenario(
    "The encoder reads the source as it is, and what is said depends on all of it.", weight=1.5
)
def the_source(student, rng):
    for _ in range(2):
        told = Told(rng, sure(*some_words(rng, 3)), listens=True)
        told.source[0] = UNKNOWN
        yield translation(student, told)
        yield Observed("what the encoder reads", told.read_by_encoder[:1])


@question.scenario(
    "Wider beams find what greedy misses, and the search ends after max_length words.", weight=2
)
def beams(student, rng):
    yield translation(student, Told(rng, garden_path(rng)), beam=2)
    a, b, c, d, e = some_words(rng, 5)
    told = Told(rng, {BOS: {a: 0.6, b: 0.4}, a: {c: 0.5, d: 0.5}, b: {e: 1.0}, e: {EOS: 1.0}})
    yield translation(student, told, beam=2, max_length=1)
    for beam in (3, 5):
        table = {
            word: dict(enumerate(rng.dirichlet(np.full(SIZE - EOS, 0.4)) + 1e-6, EOS)) for word in range(SIZE)
        }
        yield translation(student, Told(rng, table), beam=beam, max_length=6)


@question.scenario("A length penalty of 1 lets a longer sentence win.")
def length_penalty(student, rng):
    a, b, c, d = some_words(rng, 4)
    longer = {a: {c: 0.8, EOS: 0.2}, c: {d: 0.9, EOS: 0.1}, d: {EOS: 1.0}}
    told = Told(rng, {BOS: {a: 0.55, b: 0.45}, b: {EOS: 1.0}} | longer)
    for penalty in (0.0, 1.0):
        yield translation(student, told, beam=2, length_penalty=penalty)


@question.scenario("The translation holds whole numbers.", weight=0.5)
def whole_numbers(student, rng):
    told = Told(rng, sure(*some_words(rng, 3)))
    said = student(told.scene(student)["model"], told.source)
    yield Observed("whole numbers", np.asarray(said).dtype.kind in "iu")


@question.scenario("The encoder runs once for a sentence, however wide the beam is.", weight=4)
def the_encoder_runs_once(student, rng):
    for beam in (1, 2):
        told = Told(rng, sure(*some_words(rng, 4)))
        yield translation(student, told, beam=beam)
        yield Observed("how often the encoder runs", len(told.read_by_encoder))


@question.scenario(
    "The model is put into evaluation mode first, nothing is recorded, and it can learn afterwards.",
    weight=1.5,
)
def evaluation_mode(student, rng):
    told = Told(rng, sure(*some_words(rng, 3)))
    scene = told.scene(student, training=True)
    yield translation(student, told, scene)
    yield Observed("what runs in training mode", sorted(told.training))
    yield Observed("what is recorded for gradients", sorted(told.recorded))
    scene.run("learns = all(weight.requires_grad for weight in model.parameters())")
    yield Observed("the model can learn afterwards", scene["learns"])


def search(model, source, beam, alpha, max_length, *, evaluate=True, place=-1, twice=False, record=False):
    """A beam over a model, with a screw for each mistake → tokens without EOS."""
    source = torch.tensor([list(source)])
    if evaluate:
        model.eval()
    with torch.set_grad_enabled(record):
        cached = model.encode(source)

    def step(prefixes):
        with torch.set_grad_enabled(record):
            memory, mask = model.encode(source) if twice else cached
            logits = model.decode(torch.tensor(prefixes), memory, mask)[:, place].detach().double()
        return logits.log_softmax(-1).numpy()

    return beam_search(step, beam, alpha, BOS, EOS, max_length)[0][0]


def words(tokens):
    return [token for token in tokens if token != EOS]


@question.misconception("EOS stays in the translation", costs=1, because="one word too many")
def translate_with_eos(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation ends with EOS. It is a signal, not a word: leave it out."""
    return search(model, source, beam, length_penalty, max_length)


@question.misconception("BOS stays in the translation", costs=1, because="one word too many")
def translate_with_bos(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation begins with BOS. Return only what was said after it."""
    return [BOS, *words(search(model, source, beam, length_penalty, max_length))]


@question.misconception("the search adds up what are no log-probabilities", costs=2)
def translate_with_logits(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your search adds up logits, or probabilities, so that it prefers long sentences. Only log-probabilities of different words compare:
    take the log-softmax of the last place's logits."""
    model.eval()
    with torch.no_grad():
        cached = model.encode(torch.tensor([list(source)]))

        def step(prefixes):
            return model.decode(torch.tensor(prefixes), *cached)[:, -1].double().numpy()

        return words(beam_search(step, beam, length_penalty, BOS, EOS, max_length)[0][0])


@question.misconception("EOS at the end of the source", costs=1)
def translate_with_eos_at_the_source(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your encoder reads EOS at the end of the source. In training the source sentences had none: hand over the words as they are."""
    return words(search(model, [*source, EOS], beam, length_penalty, max_length))


@question.misconception("the encoder runs for every word", costs=2, how={"twice": True})
@question.misconception(
    "the first place instead of the last",
    costs=2,
    because="the search is right but for an index",
    how={"place": 0},
    hint="You read the next word from the logits of the first place, so it is always the same one. The last place has heard the whole prefix.",
)
@question.misconception(
    "the model stays in training mode",
    costs=1,
    how={"evaluate": False},
    hint="Your model may still be in training mode, where dropout throws parts of it away, so that each run can say something else. Call model.eval().",
)
@question.misconception(
    "gradients are recorded",
    costs=0.5,
    how={"record": True},
    hint="Your translation is right, but PyTorch records every step for a backward pass that never comes. Use torch.no_grad().",
)
def translate_otherwise(model, source, beam=1, length_penalty=0.0, max_length=40, *, how):
    """Your translation is right, but the encoder reads the same sentence again for each word. Let it run once, before the search."""
    return words(search(model, source, beam, length_penalty, max_length, **how))


@question.misconception("always greedy", costs=1)
def translate_greedily(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation does not change with the width of the beam: hand it on to the search."""
    return words(search(model, source, 1, length_penalty, max_length))


@question.misconception("the length penalty is forgotten", costs=0.5)
def translate_without_a_length_penalty(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation does not change with the length penalty: hand it on to the search."""
    return words(search(model, source, beam, 0.0, max_length))


@question.misconception("floats for word numbers", costs=0.5)
def translate_into_floats(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your word numbers are floats. They are integers, as places in the list of words: no list takes 7.0 for a place."""
    return np.array(words(search(model, source, beam, length_penalty, max_length)), dtype=float)


@question.misconception("the model can't learn afterwards", costs=0.5)
def translate_that_freezes(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation is right, but afterwards the model can't be trained any more: requires_grad_(False) stays. torch.no_grad() ends with its block."""
    model.requires_grad_(False)
    return words(search(model, source, beam, length_penalty, max_length))


@question.alternative
def translate_in_single_precision(model, source, beam=1, length_penalty=0.0, max_length=40):
    model = model.eval()
    with torch.inference_mode():
        memory, mask = model.encode(torch.tensor([source]))

        def step(prefixes):
            n = len(prefixes)
            logits = model.decode(torch.tensor(prefixes), memory.repeat(n, 1, 1), mask.repeat(n, 1, 1))
            return torch.log_softmax(logits[:, -1].float(), -1).numpy()

        best = beam_search(step, beam, length_penalty, BOS, EOS, max_length)[0][0]
    return np.array(best[: best.index(EOS)] if EOS in best else best, dtype=int)
