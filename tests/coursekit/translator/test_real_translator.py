"""``python -m coursekit.translator``, from training to the model card, with a tiny model on the built-in corpus."""

from __future__ import annotations

import io
import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from coursekit.data.vocabulary import BOS, EOS, PAD, UNKNOWN
from coursekit.errors import UserError
from coursekit.provided.p04_tokenizer import encode
from coursekit.provided.p12_translator_search import translate_all
from coursekit.translator import __main__ as command
from coursekit.translator import translator as sentence_translator
from coursekit.translator.run import (
    Curve,
    Plan,
    Run,
    batches,
    build_model,
    draw_curve,
    numbered,
    sentences,
)
from coursekit.translator.subwords import Subwords
from coursekit.translator.translator import fast_path

TINY = [
    "--d-model",
    "16",
    "--heads",
    "2",
    "--d-ff",
    "24",
    "--layers",
    "1",
    "--vocabulary",
    "300",
    "--warm-up",
    "5",
]
ROOT = Path(__file__).resolve().parents[3]


def _train(folder, *more):
    words = ["--threads", "1", "train", "built-in", "--out", str(folder), *TINY, "--pairs", "300"]
    return command.main([*words, "--epochs", "2", "--batch-tokens", "300", *more])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "both"
    assert _train(folder, "--direction", "both", "--bleu-sentences", "4") == 0
    return folder


def test_the_line_and_the_curve_show_the_bleu_of_each_direction(tmp_path, capsys):
    assert _train(tmp_path / "run", "--direction", "both", "--bleu-sentences", "4", "--epochs", "1") == 0
    said = capsys.readouterr().out
    assert re.search(r"validation [\d.]+, BLEU en-de [\d.]+, chrF en-de [\d.]+, BLEU de-en [\d.]+", said)
    file = json.loads((tmp_path / "run" / "curve.json").read_text())
    labels = draw_curve(Curve(**file)).axes[0].get_legend_handles_labels()[1]
    assert {"BLEU en-de (validation, greedy)", "BLEU de-en (validation, greedy)"} < set(labels)


def test_a_run_leaves_its_plan_its_curve_and_a_picture_and_nothing_half_written(run):
    names = {file.name for file in run.iterdir()}
    assert names >= {"plan.json", "subwords.json", "checkpoint.pt", "curve.json", "curve.png"}
    assert not [name for name in names if "part" in name]
    curve = json.loads((run / "curve.json").read_text())
    assert curve["losses"][-1] < curve["losses"][0]
    assert {"BLEU en-de", "BLEU de-en", "validation_loss"} <= set(curve["measured"][-1])


def test_a_run_is_evaluated_with_sacrebleus_signature_and_samples(run, capsys):
    words = ["evaluate", str(run), "--beam", "2", "--limit", "6", "--samples", "3", "--attention"]
    assert command.main(words) == 0
    said = capsys.readouterr().out
    assert "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp" in said and "chrF" in said
    report = json.loads((run / "evaluation_test_beam2.json").read_text())
    assert len(report["de-en"]["samples"]) == 3 and report["en-de"]["sentences"] == 6
    pairs = sentences("built-in", "test", "de-en")[:6]
    samples = report["de-en"]["samples"]
    assert [row["source"] for row in samples] == [pairs[1][0], pairs[3][0], pairs[5][0]]
    assert (run / "attention.png").stat().st_size > 5000


def test_alternatives_are_shown_best_first(run, capsys):
    words = ["translate", str(run), "I eat.", "Du isst.", "--to", "de", "--alternatives", "3"]
    assert command.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "I eat." and lines[4] == "Du isst."
    shown = [float(line.split()[0]) for line in lines[1:4]]
    assert shown == sorted(shown, reverse=True)


def test_the_way_back_counts_as_much_as_its_weight_says(run):
    """Each score grows by weight · log P(source | translation) / n, worked out here one token at a time."""
    translator = sentence_translator.Translator.load(run)
    texts = ["I eat.", "The dog sleeps in the garden.", ""]
    sources = translator.sources(texts, "de")
    plain = translate_all(fast_path(translator.model, translator.plan), sources, beam=3, length_penalty=1.0)
    weighed = translator.say(texts, "de", beam=3, channel=0.7)
    for source, before, after in zip(sources, plain, weighed, strict=True):
        expected = []
        for hypothesis, score in before:
            back, words, total = [translator.subwords.tag("en"), *hypothesis], [BOS], 0.0
            for token in [*source[1:], EOS]:
                logits = translator.model(torch.tensor([back]), torch.tensor([words]))[0, -1]
                total += float(logits.double().log_softmax(0)[token].detach())
                words.append(token)
            expected.append((score + 0.7 * total / len(words[1:]), translator.subwords.decode(hypothesis)))
        expected.sort(reverse=True)
        assert [said for said, _ in after] == [said for _, said in expected]
        assert [score for _, score in after] == pytest.approx([score for score, _ in expected], abs=1e-4)


def test_log_probabilities_do_not_depend_on_what_else_is_in_the_batch(run):
    translator = sentence_translator.Translator.load(run)
    rng = random.Random(3)
    pairs = [
        ([rng.randint(4, 290) for _ in range(rng.randint(1, 9))], [7] * rng.randint(0, 6)) for _ in range(9)
    ]
    alone = [translator.log_probabilities([pair])[0] for pair in pairs]
    assert translator.log_probabilities(pairs, size=4) == pytest.approx(alone, rel=1e-4)
    assert len(set(alone)) == 9 and max(alone) < 0


def test_an_evaluation_with_the_way_back_has_its_own_file_and_row(run, tmp_path):
    words = ["evaluate", str(run), "--beam", "2", "--channel", "0.3", "--limit", "6", "--samples", "3"]
    assert command.main(words) == 0
    report = json.loads((run / "evaluation_test_beam2_channel0.3.json").read_text())
    assert report["channel"] == 0.3 and report["de-en"]["sentences"] == 6
    assert command.main(["export", str(run), "--out", str(tmp_path / "model.pt")]) == 0
    assert "| en-de | beam 2, channel 0.3 |" in (tmp_path / "model.md").read_text()


@pytest.mark.parametrize(
    ("direction", "more", "sentence"),
    [
        ("both", ["--beam", "1"], "give --beam 5, say."),
        ("both", ["--beam", "2", "--channel", "-1"], "a number of at least 0"),
        ("both", ["--beam", "2", "--channel", "nan"], "a number of at least 0"),
        ("en-de", ["--beam", "2"], "does not know both directions"),
    ],
)
def test_the_way_back_needs_both_directions_and_a_beam(run, direction, more, sentence, tmp_path, capsys):
    place = run
    if direction != "both":
        place = tmp_path / "one"
        assert _train(place, "--direction", direction, "--pairs", "40", "--epochs", "1") == 0
    capsys.readouterr()
    assert command.main(["translate", str(place), "I eat.", "--to", "de", "--channel", "0.3", *more]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


@pytest.fixture(scope="module")
def second_run(tmp_path_factory):
    """The same plan as ``run``'s, with another seed."""
    folder = tmp_path_factory.mktemp("runs") / "second"
    assert _train(folder, "--direction", "both", "--seed", "1", "--optimiser", "muon") == 0
    return folder


@pytest.mark.parametrize("cached", [True, False])
def test_two_models_together_search_by_the_mean_of_their_probabilities(run, second_run, cached):
    """Each score of the beam is worked out here: one token at a time, both models asked, probabilities averaged."""
    both = sentence_translator.Translator.load(run).together_with(
        [sentence_translator.Translator.load(second_run)]
    )
    sources = both.sources(["I eat.", "The dog sleeps in the garden."], "de")
    fast = [fast_path(*one) for one in both.models]
    found = translate_all(fast, sources, beam=3, length_penalty=1.0, cached=cached, max_length=9)
    for source, hypotheses in zip(sources, found, strict=True):
        assert len({tuple(tokens) for tokens, _ in hypotheses}) == 3
        for tokens, score in hypotheses:
            words, total = [BOS], 0.0
            chosen = [*tokens, EOS] if len(tokens) < 9 else tokens
            for token in chosen:
                given = torch.tensor([source]), torch.tensor([words])
                shares = [
                    model(*given)[0, -1].detach().double().softmax(0)[token] for model, _ in both.models
                ]
                total += float(torch.stack(shares).mean().log())
                words.append(token)
            assert score == pytest.approx(total / len(chosen), abs=1e-4)


def test_a_model_together_with_itself_says_what_it_says_alone(run):
    texts = ["I eat.", "The dog sleeps in the garden.", "Where is the bakery?"]
    alone, twice = sentence_translator.Translator.load(run), sentence_translator.Translator.load(run)
    twice.together_with([alone])
    for how in ({"beam": 1}, {"beam": 3}, {"beam": 3, "channel": 0.4}):
        one, two = (model.say(texts, "de", **how) for model in (alone, twice))
        for mine, theirs in zip(one, two, strict=True):
            assert [said for said, _ in mine] == [said for said, _ in theirs]
            assert [score for _, score in mine] == pytest.approx([score for _, score in theirs], abs=1e-4)


def test_an_evaluation_of_two_models_has_its_own_file_and_is_in_no_models_card(
    run, second_run, tmp_path, capsys
):
    words = [
        "evaluate",
        str(run),
        "--ensemble",
        str(second_run),
        "--beam",
        "2",
        "--limit",
        "6",
        "--samples",
        "2",
    ]
    assert command.main(words) == 0
    assert "beam 2, 2 models together" in capsys.readouterr().out
    report = json.loads((run / "evaluation_test_beam2_ensemble2.json").read_text())
    assert report["models"] == [str(run), str(second_run)] and report["de-en"]["sentences"] == 6
    assert command.main(["export", str(run), "--out", str(tmp_path / "model.pt")]) == 0
    assert "together" not in (tmp_path / "model.md").read_text()
    assert command.main(["translate", str(run), "I eat.", "--to", "de", "--ensemble", str(second_run)]) == 0


def test_models_of_other_directions_do_not_decide_together(run, tmp_path, capsys):
    assert _train(tmp_path / "one", "--direction", "de-en", "--pairs", "40", "--epochs", "1") == 0
    capsys.readouterr()
    assert command.main(["translate", str(run), "Ich esse.", "--ensemble", str(tmp_path / "one")]) == 2
    said = capsys.readouterr().err
    assert "only with the same subwords and the same direction" in said and said.count("\n") == 1


def test_an_exported_file_translates_as_the_run_does_and_has_a_card(run, tmp_path, capsys):
    assert command.main(["evaluate", str(run), "--limit", "6", "--samples", "3"]) == 0
    out = tmp_path / "ship" / "model.pt"
    assert command.main(["export", str(run), "--out", str(out)]) == 0
    card = out.with_suffix(".md").read_text()
    assert (
        "train built-in --direction both" in card and "--d-model 16" in card and "| de-en | beam 1 |" in card
    )
    files = run.glob("evaluation_test_beam*.json")  # other tests evaluate this run, too
    rows = 2 * sum("ensemble" not in file.name for file in files)
    assert card.count("\n| ") == 1 + rows + 1 + 6
    capsys.readouterr()
    text = "The dog sleeps."
    for place in (run, out):
        assert command.main(["translate", str(place), text, "--to", "de"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def _small_run(folder, **more):
    plan = Plan(corpus="built-in", d_model=16, heads=2, d_ff=16, layers=1, epochs=3, batch_tokens=200, **more)
    text = sentences("built-in", "train", "en-de")[:80]
    subwords = Subwords.learn((sentence for pair in text for sentence in pair), 290)
    pairs = numbered(subwords, text, "en-de")
    lab = sentence_translator.lab_12(None)
    torch.manual_seed(0)
    model = build_model(lab.Transformer, len(subwords), plan)
    return Run(
        folder, plan, model, lab.make_batch, sentence_translator.losses(model, plan), pairs, pairs[:20]
    )


@pytest.mark.parametrize(
    "plan",
    [{}, {"without": ("fast",)}, {"without": ("byte_dropout",)}, {"optimiser": "muon", "weight_decay": 0.1}],
    ids=["usual", "without fast", "without byte_dropout", "muon"],
)
def test_an_interrupted_run_goes_on_to_the_same_curve(tmp_path, plan):
    """Dropout, the optimiser's moments and the order of batches are as if nothing had happened."""
    whole = _small_run(tmp_path / "whole", **plan).go(lambda _: None)
    part = _small_run(tmp_path / "part", **plan).go(lambda _: None, stop_after=7)
    assert len(part.curve.losses) == 7
    torch.manual_seed(99)  # a new process has drawn other random numbers
    rest = _small_run(tmp_path / "part", **plan)
    assert len(rest.curve.losses) == 7
    rest.go(lambda _: None)
    assert rest.progress == 1
    assert rest.curve.losses == pytest.approx(whole.curve.losses, rel=1e-6)
    mine, theirs = rest.model.state_dict(), whole.model.state_dict()
    assert all(torch.allclose(mine[name], theirs[name], atol=1e-6) for name in theirs)


@pytest.mark.parametrize(("name", "kinds"), [("adamw", ["AdamW"]), ("muon", ["Muon", "AdamW"])])
def test_each_parameter_is_changed_by_one_optimiser(tmp_path, name, kinds):
    run = _small_run(tmp_path / "run", optimiser=name)
    assert [type(optimiser).__name__ for optimiser in run.optimisers] == kinds
    changed = [id(p) for one in run.optimisers for group in one.param_groups for p in group["params"]]
    assert sorted(changed) == sorted(id(parameter) for parameter in run.model.parameters())
    before = {key: value.clone() for key, value in run.model.named_parameters()}
    run.go(lambda _: None)
    keys = {key for key in before if "W_K.bias" not in key}  # softmax does not see the keys' bias
    assert not [key for key in keys if torch.equal(before[key], run.model.get_parameter(key))]
    assert {group["lr"] for one in run.optimisers for group in one.param_groups} == {
        run.optimisers[-1].param_groups[0]["lr"]
    }


def test_a_checkpoint_of_an_older_version_is_said_in_one_sentence(tmp_path, capsys):
    assert _train(tmp_path / "run", "--pairs", "40", "--epochs", "1") == 0
    file = tmp_path / "run" / "checkpoint.pt"
    state = torch.load(file)
    state["optimiser"] = state.pop("optimisers")[0]
    torch.save(state, file)
    capsys.readouterr()
    assert _train(tmp_path / "run", "--pairs", "40", "--epochs", "1") == 2
    said = capsys.readouterr().err
    assert "of another version of the course" in said and said.count("\n") == 1


def test_the_command_in_a_card_names_the_optimiser(tmp_path):
    run = tmp_path / "run"
    assert _train(run, "--pairs", "40", "--epochs", "1", "--optimiser", "muon", "--weight-decay", "0.1") == 0
    assert command.main(["export", str(run), "--out", str(tmp_path / "model.pt")]) == 0
    card = (tmp_path / "model.md").read_text()
    assert "--optimiser muon" in card and "--weight-decay 0.1" in card


def test_a_run_with_a_budget_of_target_tokens_spends_it_and_its_rate_falls_to_zero_by_then(tmp_path):
    whole = _small_run(tmp_path / "whole").go(lambda _: None)
    budget = whole.curve.tokens // 2
    run = _small_run(tmp_path / "run", tokens=budget).go(lambda _: None)
    assert budget <= run.curve.tokens < budget + 200 and run.progress == 1 and run.rate <= 0
    assert len(run.curve.losses) < len(whole.curve.losses)


def test_ctrl_c_in_a_real_process_leaves_a_checkpoint_from_which_the_same_command_goes_on(tmp_path):
    words = [sys.executable, "-m", "coursekit.translator", "--threads", "1", "train", "built-in"]
    words += ["--out", str(tmp_path / "run"), *TINY, "--pairs", "200", "--batch-tokens", "200"]
    words += ["--minutes", "0.05", "--device", "cpu"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    line = ""
    while not line.startswith("Training."):
        line = process.stdout.readline()
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "the same command goes on" in said
    steps = len(torch.load(tmp_path / "run" / "checkpoint.pt")["curve"]["losses"])
    assert steps > 3
    again = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=90)
    assert again.returncode == 0, again.stderr
    assert f"Going on from step {steps:,}" in again.stdout and "Finished" in again.stdout


def test_a_checkpoint_of_another_plan_is_not_overwritten(run, capsys):
    assert _train(run, "--direction", "both", "--rate", "0.5") == 2
    assert "another plan" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["evaluate", "nowhere"], "holds no training run"),
        (["train", "built-in", "--notebook", "nowhere.ipynb"], "There is no notebook"),
        (["train", "built-in", "--heads", "5"], "5 heads cannot share a width of 128 evenly"),
        (["train", "built-in", "--device", "gpu"], "auto, cpu, or cuda: there is no 'gpu'"),
        (["train", "built-in", "--device", "cuda:first"], "auto, cpu, or cuda: there is no 'cuda:first'"),
        (["train", "built-in", "--device", "cuda:99"], "finds no such GPU here"),
    ],
)
def test_a_mistake_is_one_sentence(words, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command.main(words) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["train", "built-in", "--dropout", "1"], "'1' is not a number of at least 0 and less than 1"),
        (["train", "built-in", "--rate", "nan"], "'nan' is not a number of at least 0"),
        (["train", "built-in", "--minutes", "-1"], "'-1' is not a number of at least 0"),
        (["train", "built-in", "--tokens", "-5"], "'-5' is not a whole number of at least 0"),
        (["train", "built-in", "--warm-up", "0"], "'0' is not a whole number of at least 1"),
        (["train", "built-in", "--layers", "two"], "'two' is not a whole number of at least 1"),
        (["evaluate", "run", "--beam", "0"], "'0' is not a whole number of at least 1"),
        (["translate", "run", "--length-penalty", "inf"], "'inf' is not a number of at least 0"),
        (["--threads", "0", "evaluate", "run"], "'0' is not a whole number of at least 1"),
    ],
)
def test_a_number_that_cannot_be_is_named_beside_its_option(words, sentence, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(words)
    assert ended.value.code == 2 and sentence in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--beam", "--alternatives"])
def test_a_beam_wider_than_the_vocabulary_is_said_in_one_sentence(option, run, capsys):
    assert command.main(["translate", str(run), "Ich esse.", option, "5000"]) == 2
    said = capsys.readouterr().err
    assert "as many as there are subwords" in said and said.count("\n") == 1


def test_an_attention_map_of_no_sentence_is_not_drawn(run, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert command.main(["translate", str(run), "--attention", str(tmp_path / "map.png")]) == 0
    assert not (tmp_path / "map.png").exists()


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("plan.json", "{", "cannot be read as JSON"),
        (
            "plan.json",
            '{"corpus": "built-in", "colour": 1}',
            "another version of the course: its plan has colour",
        ),
        ("plan.json", "[]", "not a table"),
        ("subwords.json", "{", "subwords.json cannot be read as subwords"),
        ("subwords.json", '{"merges": [1]}', "subwords.json cannot be read as subwords"),
        ("checkpoint.pt", "not a checkpoint", "damaged, or something else"),
        ("checkpoint.pt", "", "damaged, or something else"),
    ],
)
def test_a_damaged_run_is_said_in_one_sentence(run, file, content, sentence, tmp_path, capsys):
    for name in ("plan.json", "subwords.json", "checkpoint.pt"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    (tmp_path / file).write_text(content)
    assert command.main(["translate", str(tmp_path), "Hello.", "--to", "de"]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


def test_a_runs_checkpoint_in_place_of_its_folder_is_said_in_one_sentence(run, capsys):
    assert command.main(["translate", str(run / "checkpoint.pt"), "Hello.", "--to", "de"]) == 2
    said = capsys.readouterr().err
    assert f"name its folder, {run}." in said and said.count("\n") == 1


def test_the_students_own_transformer_is_trained(tmp_path):
    notebook = ROOT / "solutions" / "12_translator" / "12_translator.ipynb"
    assert _train(tmp_path / "own", "--notebook", str(notebook), "--pairs", "60") == 0
    assert sentence_translator.lab_12(notebook).Transformer.__module__ == "own_12_translator"
    assert command.main(["translate", str(tmp_path / "own"), "Ich esse.", "--notebook", str(notebook)]) == 0


def test_without_the_fast_path_the_students_translate_does_it(tmp_path, monkeypatch, run, capsys):
    """As in lab 12's own bundle, which holds no fast path."""
    notebook = ROOT / "solutions" / "12_translator" / "12_translator.ipynb"
    text = [
        "translate",
        str(run),
        "The dog sleeps.",
        "--to",
        "de",
        "--notebook",
        str(notebook),
        "--beam",
        "2",
    ]
    assert command.main(text) == 0
    monkeypatch.setattr(sentence_translator, "FAST", "coursekit.provided.no_such_module")
    assert command.main(text) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert _train(tmp_path / "slow", "--notebook", str(notebook), "--pairs", "40") == 0


def test_only_the_fast_path_goes_to_a_gpu_by_itself(monkeypatch):
    """Lab 12's functions make their tensors on the processor: a model that is run as it is written stays there."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    assert sentence_translator.device_for(Plan()).type == "cuda"
    assert sentence_translator.device_for(Plan(), "cpu").type == "cpu"
    assert sentence_translator.device_for(Plan(without=("fast",))).type == "cpu"
    assert sentence_translator.device_for(Plan(without=("fast",)), "cuda:0") == torch.device("cuda:0")
    monkeypatch.setattr(sentence_translator, "FAST", "coursekit.provided.no_such_module")
    assert sentence_translator.device_for(Plan()).type == "cpu"
    with pytest.raises(UserError, match="needs the course's fast path"):
        sentence_translator.device_for(Plan(), "cuda")


def test_an_unwritten_transformer_is_named(tmp_path, capsys):
    notebook = ROOT / "notebooks" / "12_translator" / "12_translator.ipynb"
    assert _train(tmp_path / "own", "--notebook", str(notebook)) == 2
    assert "Transformer in 12_translator.ipynb is not written yet" in capsys.readouterr().err


def test_batches_hold_every_pair_once_keep_to_their_size_and_have_little_padding():
    rng = random.Random(1)
    lengths = [(rng.randint(3, 20), rng.randint(3, 20)) for _ in range(3000)]
    pairs = [([4 + number % 90] * s, [5] * t) for number, (s, t) in enumerate(lengths)]
    make_batch = sentence_translator.lab_12(None).make_batch
    padding = {}
    for like_length in (True, False):
        found = batches(pairs, 600, random.Random(0), like_length)
        assert sorted(pair for batch in found for pair in batch) == sorted(pairs)
        made = [make_batch(batch) for batch in found]
        assert all(part.numel() <= 600 for batch in made for part in batch)
        places = sum(batch[0].numel() + batch[2].numel() for batch in made)
        padding[like_length] = 1 - sum(int(b[0].ne(PAD).sum() + b[2].ne(PAD).sum()) for b in made) / places
    assert padding[True] < 0.1 < 0.3 < padding[False]
    assert batches(pairs, 600, random.Random(0)) != batches(pairs, 600, random.Random(1))


def test_subwords_are_lab_4s_and_spell_every_sentence():
    text = ["A man in a hat.", "Ein Mann mit Hut.", "Ein Männchen mit 3 Hüten!"] * 3
    subwords = Subwords.learn(text, 290, lower=True)
    assert len(subwords) == 290 and subwords.tag("de") == 289
    for sentence in [*text, "Größe: 🦊 ≠ fox", "  blanks  within  "]:
        numbers = subwords.encode([sentence])[0]
        assert numbers == [4 + token for token in encode(" " + sentence.lower().strip(), subwords.merges)]
        assert subwords.decode(numbers) == sentence.lower().strip()
        assert all(UNKNOWN < number < 288 for number in numbers)
    assert "".join(subwords.pieces(subwords.encode(["A man"])[0])) == "▁a▁man"
