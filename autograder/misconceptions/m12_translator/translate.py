"""Lab 12, ``translate``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch
from coursekit.provided.p11_decoding import beam_search

from autograder.misconceptions.m12_translator.common import BOS, EOS
from autograder.testing import alternative, misconception


def _search(model, source, k, alpha, max_length, *, eval_first=True, place=-1, twice=False, record=False):
    """A beam over a model, with a screw for each mistake → tokens with EOS."""
    if eval_first:
        model.eval()
    source = torch.tensor([list(source)])
    with torch.set_grad_enabled(record):
        cached = model.encode(source)

    def step(prefixes):
        with torch.set_grad_enabled(record):
            memory, mask = model.encode(source) if twice else cached
            logits = model.decode(torch.tensor(prefixes), memory, mask)[:, place].detach().double()
        return logits.log_softmax(-1).numpy()

    return beam_search(step, k, alpha, BOS, EOS, max_length)[0][0]


def _words(tokens):
    return [token for token in tokens if token != EOS]


@misconception("translate", title="EOS stays in the translation")
def translate_with_eos(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation ends with EOS. It is a signal, not a word: leave it out."""
    return _search(model, source, beam, length_penalty, max_length)


@misconception(
    "translate",
    title="the last word is always dropped",
    keeps="right for translations that end by themselves",
)
def translate_without_the_last_word(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation loses its last word where EOS never came: what is dropped is the last token, whatever it is. Leave out EOS, and
    only that."""
    return _search(model, source, beam, length_penalty, max_length)[:-1]


@misconception(
    "translate", title="unknown words are thrown away", keeps="right for translations without unknown words"
)
def translate_without_unknown_words(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation has lost its unknown words: UNKNOWN is a word that the model has said. Leave out BOS and EOS, and nothing else."""
    return [token for token in _search(model, source, beam, length_penalty, max_length) if token > 3]


@misconception(
    "translate", title="the search adds up what are no log-probabilities", keeps="right for a beam of one"
)
def translate_with_logits(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your search adds up logits, or probabilities, so that it prefers long sentences. Only log-probabilities of different words compare:
    take the log-softmax of the last place's logits."""
    model.eval()
    with torch.no_grad():
        cached = model.encode(torch.tensor([list(source)]))

        def step(prefixes):
            return model.decode(torch.tensor(prefixes), *cached)[:, -1].double().numpy()

        return _words(beam_search(step, beam, length_penalty, BOS, EOS, max_length)[0][0])


@misconception(
    "translate",
    title="EOS at the end of the source",
    keeps="the search is right; the encoder hears one token too many",
)
def translate_with_eos_at_the_source(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your encoder reads EOS at the end of the source. In training the source sentences had none: hand over the words as they are."""
    return _words(_search(model, [*source, EOS], beam, length_penalty, max_length))


@misconception("translate", title="BOS stays in the translation")
def translate_with_bos(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation begins with BOS. Return only what was said after it."""
    return [BOS, *_words(_search(model, source, beam, length_penalty, max_length))]


@misconception(
    "translate",
    title="the encoder runs for every word",
    keeps="the translations are right; the work is done again and again",
)
def translate_without_a_cache(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation is right, but the encoder reads the same sentence again for each word. Let it run once, before the search."""
    return _words(_search(model, source, beam, length_penalty, max_length, twice=True))


@misconception("translate", title="always greedy", keeps="right for a beam of one")
def translate_greedily(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation does not change with the width of the beam: hand it on to the search."""
    return _words(_search(model, source, 1, length_penalty, max_length))


@misconception(
    "translate",
    title="the length penalty is forgotten",
    keeps="right without a length penalty; one argument is not used",
)
def translate_without_a_length_penalty(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation does not change with the length penalty: hand it on to the search."""
    return _words(_search(model, source, beam, 0.0, max_length))


@misconception(
    "translate", title="max_length is forgotten", keeps="right for translations that end by themselves"
)
def translate_without_an_end(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation is longer than max_length allows: hand it on to the search."""
    return _words(_search(model, source, beam, length_penalty, 40))


@misconception("translate", title="the first place instead of the last")
def translate_from_the_first_place(model, source, beam=1, length_penalty=0.0, max_length=40):
    """You read the next word from the logits of the first place, so it is always the same one. The last place has heard the whole prefix."""
    return _words(_search(model, source, beam, length_penalty, max_length, place=0))


@misconception("translate", title="the model stays in training mode")
def translate_while_training(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your model may still be in training mode, where dropout throws parts of it away, so that each run can say something else. Call model.eval()."""
    return _words(_search(model, source, beam, length_penalty, max_length, eval_first=False))


@misconception(
    "translate", title="gradients are recorded", keeps="the translations are right; memory is wasted"
)
def translate_with_gradients(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation is right, but PyTorch records every step for a backward pass that never comes. Use torch.no_grad()."""
    return _words(_search(model, source, beam, length_penalty, max_length, record=True))


def _after_encoding(model, cached, k, alpha, max_length):
    """The search over a model that has encoded."""
    model.eval()

    def step(prefixes):
        with torch.no_grad():
            return model.decode(torch.tensor(prefixes), *cached)[:, -1].double().log_softmax(-1).numpy()

    return _words(beam_search(step, k, alpha, BOS, EOS, max_length)[0][0])


@misconception(
    "translate",
    title="the encoder runs in training mode",
    keeps="right for a model that is in evaluation mode already",
)
def translate_with_an_encoder_in_training(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your model is put into evaluation mode only after it has encoded, so dropout may throw away parts of the memory. Call model.eval() first."""
    with torch.no_grad():
        cached = model.encode(torch.tensor([list(source)]))
    return _after_encoding(model, cached, beam, length_penalty, max_length)


@misconception(
    "translate",
    title="gradients are recorded by the encoder",
    keeps="the translations are right; memory is wasted",
)
def translate_with_gradients_of_the_encoder(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation is right, but PyTorch records what the encoder computes, for a backward pass that never comes: torch.no_grad() belongs
    around model.encode, too."""
    model.eval()
    cached = model.encode(torch.tensor([list(source)]))
    return _after_encoding(model, cached, beam, length_penalty, max_length)


@misconception(
    "translate",
    title="the search goes one word further than max_length",
    keeps="right for translations that end by themselves",
)
def translate_with_one_word_more(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your search chooses max_length + 1 words, and the last is cut off; but it has decided which hypothesis wins. max_length counts all
    chosen words, EOS included."""
    return _words(_search(model, source, beam, length_penalty, max_length + 1))[:max_length]


@misconception(
    "translate",
    title="floats for word numbers",
    keeps="the translations are right; only the kind of number is not",
)
def translate_into_floats(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your word numbers are floats. They are integers, as places in the list of words: no list takes 7.0 for a place."""
    return np.array(_words(_search(model, source, beam, length_penalty, max_length)), dtype=float)


@misconception(
    "translate",
    title="the model can't learn afterwards",
    keeps="the translations are right; the model is changed",
)
def translate_that_freezes(model, source, beam=1, length_penalty=0.0, max_length=40):
    """Your translation is right, but afterwards the model can't be trained any more: requires_grad_(False) stays. torch.no_grad() ends with its block."""
    model.requires_grad_(False)
    return _words(_search(model, source, beam, length_penalty, max_length))


@alternative("translate")
def translate_without_any_marker(model, source, beam=1, length_penalty=0.0, max_length=40):
    return [
        token for token in _search(model, source, beam, length_penalty, max_length) if token not in (BOS, EOS)
    ]


@alternative("translate")
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


@alternative("translate")
def translate_with_a_beam_of_its_own(model, source, beam=1, length_penalty=0.0, max_length=40):
    model.eval()
    hypotheses = [((), 0.0)]
    with torch.no_grad():
        memory, mask = model.encode(torch.tensor([source]))
        for _ in range(max_length):
            grown = []
            for said, total in hypotheses:
                if said[-1:] == (EOS,):
                    grown.append((said, total))
                    continue
                logits = model.decode(torch.tensor([[BOS, *said]]), memory, mask)[0, -1].double()
                rows = torch.log_softmax(logits, -1).tolist()
                grown += [((*said, word), total + row) for word, row in enumerate(rows)]
            grown.sort(key=lambda one: one[1] / len(one[0]) ** length_penalty, reverse=True)
            hypotheses = grown[:beam]
    return tuple(word for word in hypotheses[0][0] if word != EOS)
