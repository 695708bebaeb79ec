"""Lab 12's kit: exact match in one pass, a training run that resumes where it stopped."""

from __future__ import annotations

import signal

import pytest
import torch
from coursekit.data import parallel
from coursekit.data.vocabulary import EOS, UNKNOWN, numbered, vocabularies
from coursekit.provided import p10_training
from coursekit.translator import bench, everyday
from coursekit.translator.attention_map import self_attention_from, sway
from coursekit.translator.training import Adam, Training, fresh
from coursekit.translator.word_model import SIZES, exact_match, load, with_unknown

from autograder.course.masters import solution
from autograder.questions.engine.answers import answers_of


@pytest.fixture(scope="module")
def lab():
    return solution("12_translator")


def test_one_pass_finds_the_sentences_that_greedy_decoding_gets_right(lab):
    model, english, german = load(lab["Transformer"])
    pairs = numbered(parallel.load("test_combinations")[:60], english, german)
    pairs += [(source, [*target[:-1], target[0], EOS + 2]) for source, target in pairs[:5]]
    found = [exact_match(model, lab["make_batch"], [pair]) for pair in pairs]
    assert found == [lab["translate"](model, source) == target for source, target in pairs]
    share = sum(found) / len(found)
    assert 0 < share < 1 and exact_match(model, lab["make_batch"], pairs, size=16) == share


def test_ctrl_c_waits_for_the_step_and_the_training_goes_on_as_if_nothing_had_happened(lab, tmp_path, capsys):
    text = parallel.load("train")[:200]
    english, german = vocabularies(text)
    pairs = numbered(text, english, german)

    def begin(checkpoint):
        torch.manual_seed(0)
        small = SIZES | {"d_model": 16, "d_ff": 16, "layers": 1}
        model = fresh(lab["Transformer"](len(english), len(german), **small))
        how = {"epochs": 3, "size": 20, "checkpoint": checkpoint}
        return Training(model, lab["make_batch"], pairs, vars(p10_training), **how)

    whole = begin(None).run()
    assert whole.losses[-1] < whole.losses[0] and 0 < len(begin(None).run(seconds=0).losses) < whole.steps
    part = begin(tmp_path / "run.pt")
    learn = part.learn_from

    def interrupted(batch):
        signal.raise_signal(signal.SIGINT)
        return learn(batch)

    part.learn_from = interrupted
    assert len(part.run().losses) == 1 and not part.finished
    assert "Stopped after step 1 of 30; run it again" in capsys.readouterr().out
    rest = begin(tmp_path / "run.pt").run()
    assert rest.finished and rest.losses == pytest.approx(whole.losses)


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
    nouns = {name: float(found[words.index(name)]) for name in ("animal", "street")}
    assert nouns[noun] == max(nouns.values()) > 3 * min(nouns.values())
    looks = self_attention_from(model, source, words.index("it"))[-1]
    assert words[looks.argmax()] == noun, "in the last block of the encoder, it looks at what it means"
    heads = [self_attention_from(model, source, words.index("it"), head) for head in range(SIZES["heads"])]
    assert torch.equal(torch.stack(heads).amax(dim=0)[-1], looks)


def _alternative(name):
    answers = answers_of("12_translator")["alternative"]["Transformer"]
    return next(answer.function for answer in answers if answer.name == name)


def test_the_trained_weights_fit_a_transformer_that_keeps_its_positions_in_a_frozen_parameter(lab):
    model, english, german = load(_alternative("TransformerWithFrozenPositions"))
    said = lab["translate"](model, english.encode("I ate an apple."))
    assert german.decode(said) == "Ich habe einen Apfel gegessen."


def test_a_word_and_its_translation_become_unknown_together():
    text = parallel.load("train")[:8000]
    english, german = vocabularies(text)
    pairs = numbered(text, english, german)
    changed = with_unknown(pairs, share=0.3)
    hidden = {}
    for (source, target), (before, after) in zip(changed, pairs, strict=True):
        assert (UNKNOWN in source) == (UNKNOWN in target) and len(source) == len(before)
        if UNKNOWN in source:
            word = english.words[before[source.index(UNKNOWN)]]
            hidden.setdefault(word, set()).add(german.words[after[target.index(UNKNOWN)]])
    assert sum(map(len, hidden.values())) > 200 and hidden["horse"] <= {"Pferd"}
    assert "the" not in hidden and "." not in hidden, "words of the grammar stay"


def test_the_labs_adam_is_pytorchs_adamw():
    ours, theirs = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    how = {"betas": (0.9, 0.98), "eps": 1e-9, "weight_decay": 0.3}
    own = Adam(ours.parameters(), p10_training.adam_step, decay=0.3)
    for layer, optimizer in ((ours, own), (theirs, torch.optim.AdamW(theirs.parameters(), **how))):
        for step in range(4):
            optimizer.param_groups[0]["lr"] = 0.1 / (step + 1)
            optimizer.zero_grad()
            layer(torch.ones(5, 3)).square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours.weight, theirs.weight, rtol=1e-5, atol=1e-7)


def test_the_everyday_weights_speak_in_the_students_class(lab):
    model, merges, tag = everyday.load_everyday(lab["Transformer"])
    source = [tag["de"], *(4 + n for n in lab["encode"](" I am a student.", merges))]
    said = lab["translate"](model, source)
    assert lab["decode"]([n - 4 for n in said], merges).strip() == "Ich bin Student."
    assert len(everyday.test_pairs()) == 300


KEPT_ELSEWHERE = ("TransformerWithFrozenPositions", "TransformerWithFullMasks")


@pytest.mark.parametrize(
    ("part", "name"),
    [*((part, "") for part in bench.PARTS), *(("positions", name) for name in KEPT_ELSEWHERE)],
)
def test_each_part_of_the_bench_can_be_switched_off_whatever_a_model_calls_it(lab, part, name):
    torch.manual_seed(0)
    build = _alternative(name) if name else lab["Transformer"]
    model = build(9, 9, d_model=8, heads=2, d_ff=8, layers=2).eval()
    source, target = torch.tensor([[4, 5, 6]]), torch.tensor([[1, 7, 8]])
    with torch.no_grad():
        before = model(source, target)
        assert not torch.allclose(before, model(source.flip(1), target), atol=1e-5)
        bench.switch_off(model, part, heads=2)
        after, turned = model(source, target), model(source.flip(1), target)
    assert torch.equal(before, after) == (part == "the shift")
    assert torch.allclose(after, turned, atol=1e-5) == (part == "positions"), "without positions, no order"
    if not name:
        run = bench.learn(lab["Transformer"], lab["make_batch"], vars(p10_training), part, steps=3, size=4)
        assert len(run.losses) == 3 and 0 <= run.right <= 1
