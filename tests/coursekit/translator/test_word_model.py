"""Lab 12's kit: batches of like length, exact match in one pass, a training run that resumes where it stopped."""

from __future__ import annotations

import random
import signal

import pytest
import torch
from coursekit.data import parallel
from coursekit.data.vocabulary import BOS, EOS, numbered, vocabularies
from coursekit.errors import UserError
from coursekit.translator.attention_map import self_attention_from, sway
from coursekit.translator.batches import bucketed
from coursekit.translator.training import Training, fresh
from coursekit.translator.word_model import SIZES, hits, load

from autograder.course.masters import solution
from autograder.testing.catalogue import answers_of


@pytest.fixture(scope="module")
def lab():
    return solution("12_translator")


def test_every_pair_is_in_one_batch():
    pairs = [([number], [number] * (1 + number % 7)) for number in range(101)]
    batches = bucketed(pairs, 8, random.Random(0))
    assert sorted(pair for batch in batches for pair in batch) == sorted(pairs)


def test_one_pass_finds_the_sentences_that_greedy_decoding_gets_right(lab):
    model, english, german = load(lab["Transformer"])
    pairs = numbered(parallel.load("test_combinations")[:60], english, german)
    pairs += [(source, [*target[:-1], target[0], EOS + 2]) for source, target in pairs[:5]]
    said = [lab["translate"](model, source) == target for source, target in pairs]
    assert hits(model, lab["make_batch"], pairs, size=16) == said
    assert not all(said) and any(said)


def test_a_stopped_training_goes_on_as_if_nothing_had_happened(lab, tmp_path):
    text = parallel.load("train")[:200]
    english, german = vocabularies(text)
    pairs = numbered(text, english, german)

    def begin(checkpoint):
        torch.manual_seed(0)
        small = SIZES | {"d_model": 16, "d_ff": 16, "layers": 1}
        model = fresh(lab["Transformer"](len(english), len(german), **small))
        return Training(model, lab["make_batch"], pairs, epochs=3, size=20, checkpoint=checkpoint)

    whole = begin(None).run()
    part = begin(tmp_path / "run.pt").run(seconds=0.05)
    assert 0 < len(part.losses) < part.steps
    rest = begin(tmp_path / "run.pt").run()
    assert rest.finished and rest.losses == pytest.approx(whole.losses)
    assert whole.losses[-1] < whole.losses[0]


def test_ctrl_c_waits_for_the_step_and_a_checkpoint_of_another_plan_is_not_overwritten(lab, tmp_path, capsys):
    pairs = [([4 + n % 9], [4 + n % 7]) for n in range(60)]

    def begin(**plan):
        model = lab["Transformer"](13, 13, d_model=8, heads=2, d_ff=8, layers=1)
        return Training(model, lab["make_batch"], pairs, size=10, checkpoint=tmp_path / "run.pt", **plan)

    training = begin()
    step = training._step

    def interrupted(batch):
        signal.raise_signal(signal.SIGINT)
        step(batch)

    training._step = interrupted
    training.run()
    assert len(training.losses) == 1 and not training.finished
    assert "Stopped after step 1 of 24; run it again" in capsys.readouterr().out
    assert begin().losses == training.losses
    with pytest.raises(UserError, match="another plan"):
        begin(rate=1.0)


@pytest.mark.parametrize(
    ("adjective", "pronoun", "other", "noun"),
    [("tired", "es", "sie", "animal"), ("wide", "sie", "es", "street")],
)
def test_the_choice_of_a_pronoun_hangs_on_the_noun_that_is_meant(lab, adjective, pronoun, other, noun):
    model, english, german = load(lab["Transformer"])
    words = parallel.tokenize(f"The animal did not cross the street because it was too {adjective}.")
    source = [english.numbers[word] for word in words]
    said = lab["translate"](model, source)
    place = said.index(german.numbers[pronoun])
    found = sway(model, source, said, place, german.numbers[other])
    vectors = []
    handle = model.source_embedding.register_forward_hook(lambda part, inputs, out: vectors.append(out))
    logits = model(torch.tensor([source]), torch.tensor([[BOS, *said]]))[0, place]
    handle.remove()
    gap = logits[german.numbers[pronoun]] - logits[german.numbers[other]]
    expected = torch.autograd.grad(gap, vectors)[0][0].norm(dim=-1)
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-4)
    nouns = {name: float(found[words.index(name)]) for name in ("animal", "street")}
    assert nouns[noun] == max(nouns.values()) > 3 * min(nouns.values())
    looks = self_attention_from(model, source, words.index("it"))[-1]
    assert words[looks.argmax()] == noun, "in the last block of the encoder, it looks at what it means"


def test_the_trained_weights_fit_a_transformer_that_keeps_its_positions_in_a_frozen_parameter(lab):
    answers = {
        answer.name: answer.function for answer in answers_of("12_translator")["alternative"]["Transformer"]
    }
    model, english, german = load(answers["TransformerWithFrozenPositions"])
    said = lab["translate"](model, english.encode("I ate an apple."))
    assert german.decode(said) == "Ich habe einen Apfel gegessen."
