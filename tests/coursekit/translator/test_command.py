"""``python -m coursekit.translator``, from training to the model card, with a tiny model on the built-in corpus."""

from __future__ import annotations

import io
import json
import random
import re
import signal
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import torch
from coursekit.data.vocabulary import PAD, UNKNOWN
from coursekit.errors import UserError
from coursekit.provided.p04_tokenizer import encode
from coursekit.translator import __main__ as command
from coursekit.translator import model as lab_model
from coursekit.translator.batches import LONGEST, numbered, sentences, token_batches
from coursekit.translator.loop import Curve
from coursekit.translator.model import build_model, device_for, load_lab_12, loss_of
from coursekit.translator.plan import Plan, command_of, plan_for, plan_from
from coursekit.translator.run import Run, draw_curve
from coursekit.translator.subwords import Subwords

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
def trained(tmp_path_factory):
    """The folder of a run, and what training it said."""
    folder, said = tmp_path_factory.mktemp("runs") / "both", io.StringIO()
    with redirect_stdout(said):
        assert _train(folder, "--direction", "both", "--bleu-sentences", "4") == 0
    return folder, said.getvalue()


@pytest.fixture(scope="module")
def run(trained):
    return trained[0]


def test_the_line_and_the_curve_show_the_bleu_of_each_direction(trained):
    folder, said = trained
    assert re.search(r"validation [\d.]+, BLEU en-de [\d.]+, chrF en-de [\d.]+, BLEU de-en [\d.]+", said)
    file = json.loads((folder / "curve.json").read_text())
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
    words = ["evaluate", str(run), "--beam", "2", "--limit", "6", "--samples", "3"]
    assert command.main(words) == 0
    said = capsys.readouterr().out
    assert "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp" in said and "chrF" in said
    report = json.loads((run / "evaluation_test_beam2.json").read_text())
    assert len(report["de-en"]["samples"]) == 3 and report["en-de"]["sentences"] == 6
    pairs = sentences("built-in", "test", "de-en")[:6]
    samples = report["de-en"]["samples"]
    assert [row["source"] for row in samples] == [pairs[1][0], pairs[3][0], pairs[5][0]]
    assert {"source", "translation", "reference"} == set(samples[0])


def test_alternatives_are_shown_best_first(run, capsys):
    words = ["translate", str(run), "I eat.", "Du isst.", "--to", "de", "--alternatives", "3"]
    assert command.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "I eat." and lines[4] == "Du isst."
    shown = [float(line.split()[0]) for line in lines[1:4]]
    assert shown == sorted(shown, reverse=True)


def test_an_exported_file_translates_as_the_run_does_and_has_a_card(run, tmp_path, capsys):
    assert command.main(["evaluate", str(run), "--limit", "6", "--samples", "3"]) == 0
    out = tmp_path / "ship" / "model.pt"
    assert command.main(["export", str(run), "--out", str(out)]) == 0
    card = out.with_suffix(".md").read_text()
    assert (
        "train built-in --direction both" in card and "--d-model 16" in card and "| de-en | beam 1 |" in card
    )
    files = run.glob("evaluation_test_beam*.json")  # other tests evaluate this run, too
    assert card.count("\n| ") == 1 + 2 * len(list(files)) + 1 + 6
    capsys.readouterr()
    text = "The dog sleeps."
    for place in (run, out):
        assert command.main(["translate", str(place), text, "--to", "de"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def _small_run(folder, **more):
    plan = Plan(corpus="built-in", d_model=16, heads=2, d_ff=16, layers=1, epochs=3, batch_tokens=200, **more)
    text = sentences("built-in", "train", "en-de", 80)
    subwords = Subwords.learn((sentence for pair in text for sentence in pair), 290)
    pairs = numbered(subwords, text, "en-de")
    lab = load_lab_12(None)
    model = build_model(lab.Transformer, len(subwords), plan)
    return Run(folder, plan, model, lab.make_batch, loss_of(model, plan), pairs, pairs[:20])


@pytest.mark.parametrize("fast", [True, False])
def test_an_interrupted_run_goes_on_to_the_same_curve(tmp_path, fast, monkeypatch):
    """Dropout, the optimizer's moments and the order of batches are as if nothing had happened."""
    if not fast:
        monkeypatch.setattr(lab_model, "FAST", "coursekit.provided.no_such_module")
    whole = _small_run(tmp_path / "whole").go(lambda _: None)
    part = _small_run(tmp_path / "part").go(lambda _: None, stop_after=7)
    assert len(part.curve.losses) == 7
    torch.manual_seed(99)  # a new process has drawn other random numbers
    rest = _small_run(tmp_path / "part")
    assert len(rest.curve.losses) == 7
    rest.go(lambda _: None)
    assert rest.progress == 1
    assert rest.curve.losses == pytest.approx(whole.curve.losses, rel=1e-6)
    mine, theirs = rest.model.state_dict(), whole.model.state_dict()
    assert all(torch.allclose(mine[name], theirs[name], atol=1e-6) for name in theirs)


def test_every_parameter_learns(tmp_path):
    run = _small_run(tmp_path / "run")
    before = {key: value.clone() for key, value in run.model.named_parameters()}
    run.go(lambda _: None)
    keys = {key for key in before if "W_K.bias" not in key}  # softmax does not see the keys' bias
    assert not [key for key in keys if torch.equal(before[key], run.model.get_parameter(key))]


def test_measuring_changes_nothing_of_the_training(tmp_path):
    never = _small_run(tmp_path / "never").go(lambda _: None)
    often = _small_run(tmp_path / "often")
    often.measure_every, often.measure = 0, lambda: {"BLEU": float(torch.rand(()))}
    often.go(lambda _: None)
    assert never.curve.losses == often.curve.losses
    assert len(often.curve.measured) >= len(often.curve.losses) - 1 > len(never.curve.measured)


def test_a_checkpoint_of_an_older_version_is_said_in_one_sentence(tmp_path, capsys):
    assert _train(tmp_path / "run", "--pairs", "40", "--epochs", "1") == 0
    file = tmp_path / "run" / "checkpoint.pt"
    state = torch.load(file)
    state["optimisers"] = [state.pop("optimizer")]
    torch.save(state, file)
    capsys.readouterr()
    assert _train(tmp_path / "run", "--pairs", "40", "--epochs", "1") == 2
    said = capsys.readouterr().err
    assert "of another version of the course" in said and said.count("\n") == 1


def test_the_plan_of_an_older_version_is_known_without_what_has_gone():
    """As in the model that ships: how it was trained, not what it computes."""
    assert plan_from({"corpus": "tatoeba", "optimiser": "muon", "without": ("joint",)}) == Plan("tatoeba")


def test_the_command_in_a_card_trains_the_same_plan():
    plan = plan_for("tatoeba", direction="both", minutes=76.0, lower=True, weight_decay=0.1, seed=3)
    command_line = command_of(plan)
    assert "epochs" not in command_line and "--weight-decay 0.1" in command_line
    options = command._parser().parse_args(command_line.split()[3:])
    chosen = {name: getattr(options, name, None) for name in Plan.__dataclass_fields__}
    assert plan_for(chosen.pop("corpus"), **chosen) == plan


def test_pairs_that_are_too_long_are_left_out_and_counted(tmp_path, capsys, monkeypatch):
    text = sentences("built-in", "train", "de-en", 40)
    monkeypatch.setattr(command, "sentences", lambda *_: [*text, ("Haus " * (LONGEST + 9), "house")])
    assert _train(tmp_path / "run", "--epochs", "1") == 0
    assert "from 40 pairs (1 are too long)" in capsys.readouterr().out


def test_a_run_with_a_budget_of_target_tokens_spends_it_and_its_rate_falls_to_zero_by_then(tmp_path):
    whole = _small_run(tmp_path / "whole").go(lambda _: None)
    budget = whole.curve.tokens // 2
    run = _small_run(tmp_path / "run", tokens=budget).go(lambda _: None)
    assert budget <= run.curve.tokens < budget + 200 and run.progress == 1 and run.rate <= 0
    assert len(run.curve.losses) < len(whole.curve.losses)


def test_ctrl_c_leaves_a_checkpoint_from_which_the_same_command_goes_on(tmp_path, capsys, monkeypatch):
    step = Run._step

    def interrupted(run, pairs):
        signal.raise_signal(signal.SIGINT)
        step(run, pairs)

    with monkeypatch.context() as patched:
        patched.setattr(Run, "_step", interrupted)
        assert _train(tmp_path / "run", "--pairs", "60") == 0
    assert "the same command goes on" in capsys.readouterr().out
    assert len(torch.load(tmp_path / "run" / "checkpoint.pt")["curve"]["losses"]) == 1
    assert _train(tmp_path / "run", "--pairs", "60") == 0
    said = capsys.readouterr().out
    assert "Going on from step 1" in said and "Finished" in said


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


def test_a_number_that_cannot_be_is_named_beside_its_option(capsys):
    for words, allowed in (
        ("train built-in --dropout 1", "a number of at least 0 and less than 1"),
        ("train built-in --rate nan", "a number of at least 0"),
        ("train built-in --minutes -1", "a number of at least 0"),
        ("train built-in --tokens -5", "a whole number of at least 0"),
        ("train built-in --warm-up 0", "a whole number of at least 1"),
        ("train built-in --layers two", "a whole number of at least 1"),
        ("evaluate run --beam 0", "a whole number of at least 1"),
        ("translate run --length-penalty inf", "a number of at least 0"),
        ("--threads 0 evaluate run", "a whole number of at least 1"),
    ):
        with pytest.raises(SystemExit) as ended:
            command.main(words.split())
        assert ended.value.code == 2 and f"is not {allowed}" in capsys.readouterr().err, words


def test_a_beam_wider_than_the_vocabulary_is_said_in_one_sentence(run, capsys):
    for option in ("--beam", "--alternatives"):
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


def test_weights_that_do_not_fit_the_transformer_are_said_in_one_sentence(run, tmp_path, capsys):
    for name in ("plan.json", "subwords.json"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    state = torch.load(run / "checkpoint.pt")
    state["model"].pop(next(iter(state["model"])))
    torch.save(state, tmp_path / "checkpoint.pt")
    assert command.main(["translate", str(tmp_path), "Hello.", "--to", "de"]) == 2
    said = capsys.readouterr().err
    assert "do not fit this Transformer" in said and said.count("\n") == 1


def test_a_runs_checkpoint_in_place_of_its_folder_is_said_in_one_sentence(run, capsys):
    assert command.main(["translate", str(run / "checkpoint.pt"), "Hello.", "--to", "de"]) == 2
    said = capsys.readouterr().err
    assert f"name its folder, {run}." in said and said.count("\n") == 1


def test_the_students_own_transformer_is_trained_and_translates_without_the_fast_path_too(
    tmp_path, run, capsys, monkeypatch
):
    """As in lab 12's own bundle, which holds no fast path."""
    notebook = ROOT / "solutions" / "12_translator" / "12_translator.ipynb"
    own = ["--notebook", str(notebook)]
    assert _train(tmp_path / "own", *own, "--pairs", "60") == 0
    assert load_lab_12(notebook).Transformer.__module__ == "own_12_translator"
    assert command.main(["translate", str(tmp_path / "own"), "Ich esse.", *own]) == 0
    words = ["translate", str(run), "The dog sleeps.", "--to", "de", *own, "--beam", "2"]
    capsys.readouterr()
    assert command.main(words) == 0
    monkeypatch.setattr(lab_model, "FAST", "coursekit.provided.no_such_module")
    assert command.main(words) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert command.main([*words, "--alternatives", "3"]) == 2
    assert "lab 12's translate returns one" in capsys.readouterr().err
    assert _train(tmp_path / "slow", *own, "--pairs", "40") == 0


def test_only_the_fast_path_goes_to_a_gpu_by_itself(monkeypatch):
    """Lab 12's functions make their tensors on the processor: a model that is run as it is written stays there."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    assert device_for().type == "cuda" and device_for("cpu").type == "cpu"
    assert device_for("cuda:0") == torch.device("cuda:0")
    monkeypatch.setattr(lab_model, "FAST", "coursekit.provided.no_such_module")
    assert device_for().type == "cpu"
    with pytest.raises(UserError, match="needs the course's fast path"):
        device_for("cuda")


def test_an_unwritten_transformer_is_named(tmp_path, capsys):
    notebook = ROOT / "notebooks" / "12_translator" / "12_translator.ipynb"
    assert _train(tmp_path / "own", "--notebook", str(notebook)) == 2
    assert "Transformer in 12_translator.ipynb is not written yet" in capsys.readouterr().err


def test_batches_hold_every_pair_once_keep_to_their_size_and_have_little_padding():
    rng = random.Random(1)
    lengths = [(rng.randint(3, 20), rng.randint(3, 20)) for _ in range(3000)]
    pairs = [([4 + number % 90] * s, [5] * t) for number, (s, t) in enumerate(lengths)]
    make_batch = load_lab_12(None).make_batch
    found = token_batches(pairs, 600, random.Random(0))
    assert sorted(pair for batch in found for pair in batch) == sorted(pairs)
    parts = [part for batch in found for part in make_batch(batch)]
    assert all(part.numel() <= 600 for part in parts)
    assert sum(int(part.eq(PAD).sum()) for part in parts) < 0.1 * sum(part.numel() for part in parts)
    assert found == token_batches(pairs, 600, random.Random(0)) != token_batches(pairs, 600, random.Random(1))


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
