"""The translator on real sentences: ``python -m coursekit.translator train | evaluate | translate | export``.

    python -m coursekit.translator train multi30k --out build/translator/de-en --minutes 12
    python -m coursekit.translator evaluate build/translator/de-en --beam 5
    python -m coursekit.translator translate build/translator/de-en "Ein Hund läuft durch den Schnee."

The model is lab 12's ``Transformer``: the one from your notebook (``--notebook``), or the course's. A training run may
be interrupted; the same command goes on. Figures and scores are written into the run's folder.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from coursekit.errors import UserError
from coursekit.translator.run import (
    CORPORA,
    DIRECTIONS,
    OPTIMISERS,
    Plan,
    Run,
    build_model,
    changed,
    draw_curve,
    limited,
    numbered,
    read_plan,
    save_tensors,
    sentences,
    write_plan,
)
from coursekit.translator.subwords import Subwords, write_atomically
from coursekit.translator.translator import Translator, device_for, lab_12, losses, subwords_of

#: What training keeps for each corpus, unless an option says otherwise.
DEFAULTS: dict[str, dict[str, Any]] = {
    "multi30k": {},
    "tatoeba": {
        "lower": False,
        "vocabulary": 6000,
        "epochs": 6,
        "batch_tokens": 1500,
        "warm_up": 500,
    },
    "built-in": {
        "lower": False,
        "vocabulary": 1200,
        "d_model": 128,
        "d_ff": 256,
        "epochs": 8,
        "smoothing": 0.05,
    },
}


def scores(hypotheses: list[str], references: list[str], lower: bool) -> dict[str, Any]:
    """BLEU and chrF by sacreBLEU, with the signatures that say how they were computed."""
    from sacrebleu.metrics import BLEU, CHRF

    bleu, chrf = BLEU(lowercase=lower), CHRF(lowercase=lower)
    return {
        "BLEU": round(bleu.corpus_score(hypotheses, [references]).score, 2),
        "BLEU_signature": str(bleu.get_signature()),
        "chrF": round(chrf.corpus_score(hypotheses, [references]).score, 2),
        "chrF_signature": str(chrf.get_signature()),
    }


def _directions(direction: str) -> list[tuple[str, str]]:
    """("de-en", the language it goes to) for each direction that a model knows."""
    return [(one, one[-2:]) for one in (("en-de", "de-en") if direction == "both" else (direction,))]


# The commands.


def train(options: argparse.Namespace) -> None:
    """Train, or go on training."""
    plan = _plan(options)
    device = device_for(plan, options.device)
    folder = options.out or Path("build") / "translator" / f"{plan.corpus}-{plan.direction}"
    lab = lab_12(options.notebook)
    if (folder / "plan.json").is_file() and read_plan(folder) != plan:
        raise UserError(f"{folder} holds a run with another plan: choose another --out, or remove it.")
    text = {split: sentences(plan.corpus, split, plan.direction) for split in ("train", "validation")}
    text["train"] = limited(plan, text["train"])
    if (folder / "subwords.json").is_file():
        subwords = subwords_of(folder)
    else:
        began = time.perf_counter()
        both = (sentence for pair in text["train"] for sentence in pair)
        subwords = Subwords.learn(both, plan.vocabulary, plan.lower)
        print(f"{len(subwords):,} subwords learned in {time.perf_counter() - began:.0f} s", flush=True)
        subwords.save(folder / "subwords.json")
    write_plan(folder, plan)
    pairs = {split: numbered(subwords, text[split], plan.direction) for split in text}
    model = build_model(lab.Transformer, len(subwords), plan).to(device)
    size = sum(parameter.numel() for parameter in model.parameters())
    print(
        f"{size:,} numbers to learn, from {len(pairs['train']):,} pairs, on {device}",
        flush=True,
    )
    translator = Translator(lab, model, subwords, plan)

    def measure() -> dict[str, float]:
        found: dict[str, float] = {}
        for direction, to in _directions(plan.direction):
            rows = sentences(plan.corpus, "validation", direction)[: options.bleu_sentences]
            said = [best[0][0] for best in translator.say([source for source, _ in rows], to)]
            suffix = f" {direction}" if plan.direction == "both" else ""
            result = scores(said, [reference for _, reference in rows], plan.lower)
            found |= {f"BLEU{suffix}": result["BLEU"], f"chrF{suffix}": result["chrF"]}
        return found

    run = Run(
        folder,
        plan,
        model,
        lab.make_batch,
        losses(model, plan),
        pairs["train"],
        pairs["validation"],
        measure=measure if options.bleu_sentences else None,
        measure_every=60 * options.measure_every,
    )
    if run.curve.losses:
        print(f"Going on from step {len(run.curve.losses):,}.", flush=True)
    run.go(lambda line: print(line, flush=True))
    if run.curve.measured:
        _save_figure(draw_curve(run.curve), folder / "curve.png")
    if run.progress >= 1:
        print(f"Finished. Next: python -m coursekit.translator evaluate {folder}")


def _plan(options: argparse.Namespace) -> Plan:
    given = {name: getattr(options, name, None) for name in Plan.__dataclass_fields__}
    given["without"] = tuple(sorted(options.without or ()))
    if (options.minutes or options.tokens) and options.epochs is None:
        given["epochs"] = 1000  # the clock, or the count, decides
    plan = changed(Plan(**{"corpus": options.corpus, **DEFAULTS[options.corpus]}), **given)
    if plan.d_model % plan.heads:
        raise UserError(
            f"{plan.heads} heads cannot share a width of {plan.d_model} evenly: change --heads or --d-model."
        )
    return plan


def _loaded(options: argparse.Namespace) -> Translator:
    """The model of the command, with those of ``--ensemble``."""
    others = [Translator.load(place, options.notebook) for place in options.ensemble]
    return Translator.load(options.run, options.notebook).together_with(others)


def evaluate(options: argparse.Namespace) -> None:
    """Translate a split, score it, and write scores and samples into the run's folder."""
    translator = _loaded(options)
    plan = translator.plan
    folder = options.run if options.run.is_dir() else options.run.parent
    how = {name: getattr(options, name) for name in ("beam", "length_penalty", "channel")}
    report: dict[str, Any] = {"corpus": plan.corpus, "split": options.split, **how}
    report["models"] = [str(place) for place in (options.run, *options.ensemble)]
    for direction, to in _directions(plan.direction):
        pairs = sentences(plan.corpus, options.split, direction)[: options.limit or None]
        began = time.perf_counter()
        said = [best[0][0] for best in translator.say([source for source, _ in pairs], to, **how)]
        seconds = time.perf_counter() - began
        result = scores(said, [reference for _, reference in pairs], plan.lower)
        report[direction] = result | {"sentences": len(pairs), "seconds": round(seconds, 2)}
        print(f"{direction}: BLEU {result['BLEU']:.2f}  ({result['BLEU_signature']})")
        print(f"       chrF {result['chrF']:.2f}  ({result['chrF_signature']})")
        print(f"       {len(pairs):,} sentences in {seconds:.1f} s, {_search_of(report)}\n")
        rows = _spread(list(zip(pairs, said, strict=True)), options.samples)
        report[direction]["samples"] = [
            {"source": source, "said": hypothesis, "reference": reference}
            for (source, reference), hypothesis in rows
        ]
        for (source, reference), hypothesis in rows:
            print(f"  {source}\n  → {hypothesis}\n  = {reference}\n")
    channel = f"_channel{options.channel:g}" if options.channel else ""
    several = f"_ensemble{len(translator.models)}" if translator.others else ""
    name = f"evaluation_{options.split}_beam{options.beam}{channel}{several}.json"
    write_atomically(folder / name, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    if options.attention:
        text = sentences(plan.corpus, options.split, _directions(plan.direction)[0][0])[0][0]
        _save_figure(translator.draw_attention(text), folder / "attention.png")
    print(f"written to {folder / name}")


def _search_of(report: dict[str, Any]) -> str:
    """How was searched, in words: "beam 5, channel 0.3, 2 models together"."""
    words = f"beam {report['beam']}" + (f", channel {report['channel']:g}" if report.get("channel") else "")
    number = len(report.get("models", []))
    return words + (f", {number} models together" if number > 1 else "")


def _spread(rows: list[Any], number: int) -> list[Any]:
    """``number`` rows at equal distances: chosen by their place, not by a person."""
    if number <= 0:
        return []
    step = max(1, len(rows) // number)
    return rows[step // 2 :: step][:number]


def translate(options: argparse.Namespace) -> None:
    """Translate sentences, from the command line or one a line from standard input."""
    translator = _loaded(options)
    texts = options.sentences or [line.strip() for line in sys.stdin if line.strip()]
    how = {
        "beam": max(options.beam, options.alternatives),
        "length_penalty": options.length_penalty,
        "channel": options.channel,
    }
    for text, found in zip(texts, translator.say(texts, options.to, **how), strict=True):
        if options.alternatives:
            print(text)
            for said, score in found[: options.alternatives]:
                print(f"  {score:7.3f}  {said}")
        else:
            print(found[0][0])
    if options.attention and texts:
        _save_figure(translator.draw_attention(texts[0], options.to), options.attention)
        print(f"written to {options.attention}", file=sys.stderr)


def export(options: argparse.Namespace) -> None:
    """Write one file in half precision, to ship, and its model card."""
    translator = Translator.load(options.run, options.notebook)
    weights = {name: value.detach().cpu().half() for name, value in translator.model.named_parameters()}
    subwords = {"lower": translator.subwords.lower, "merges": [list(p) for p in translator.subwords.merges]}
    save_tensors({"plan": asdict(translator.plan), "subwords": subwords, "weights": weights}, options.out)
    size = options.out.stat().st_size / 1e6
    card = options.out.with_suffix(".md")
    write_atomically(card, model_card(options.run, translator, size))
    print(f"{options.out}: {size:.1f} MB; {card}")


def model_card(folder: Path, translator: Translator, megabytes: float) -> str:
    """The model's card: what it is, the command that made it, its scores, and samples that nobody chose."""
    from coursekit.data import CORPORA as KNOWN

    plan = translator.plan
    corpus = KNOWN.get(plan.corpus)
    curve = json.loads((folder / "curve.json").read_text(encoding="utf-8"))
    lines = [
        f"# A translator: {plan.corpus}, {plan.direction}",
        "",
        f"Lab 12's transformer, {sum(p.numel() for p in translator.model.parameters()):,} numbers in half precision "
        f"({megabytes:.1f} MB), {len(translator.subwords):,} subwords for both languages.",
        "",
        f"* Data: {corpus.about}. Licence: {corpus.licence}."
        if corpus
        else "* Data: the course's own parallel corpus.",
        f"* Made by `{_command(plan)}`",
        f"* Training: {curve['seconds'] / 60:.0f} minutes, {len(curve['losses']):,} steps, "
        f"{curve['tokens'] / 1e6:.1f} million target tokens"
        + (f" (on any machine: `--tokens {curve['tokens']}`)." if plan.minutes else "."),
        "",
        "## Scores on held-out sentences",
        "",
        "| direction | search | BLEU | chrF | signature |",
        "|---|---|---|---|---|",
    ]
    samples: list[str] = []
    search = ""
    for file in sorted(folder.glob("evaluation_test_beam*.json")):
        report = json.loads(file.read_text(encoding="utf-8"))
        if len(report.get("models", [])) > 1:
            continue  # the card is one model's
        for direction, _ in _directions(plan.direction):
            result = report[direction]
            scored = (f"{result['BLEU']:.2f}", f"{result['chrF']:.2f}", f"`{result['BLEU_signature']}`")
            lines.append(_row(direction, _search_of(report), *scored))
        shown = [
            _row(row["source"], row["said"], row["reference"])
            for direction, _ in _directions(plan.direction)
            for row in report[direction]["samples"]
        ]
        if shown:  # --samples 0 shows none, and hides none that were shown
            search, samples = _search_of(report), shown
    if samples:
        told = f"At equal distances in the test set ({search}); nobody chose them."
        lines += ["", "## Samples", "", told, "", "| source | the model says | reference |", "|---|---|---|"]
    return "\n".join([*lines, *samples]) + "\n"


def _row(*cells: object) -> str:
    """A row of a markdown table."""
    return "| " + " | ".join(str(cell).replace("|", r"\|") for cell in cells) + " |"


def _command(plan: Plan) -> str:
    """The command that trains this plan."""
    usual = changed(Plan(**{"corpus": plan.corpus, **DEFAULTS[plan.corpus]}))
    words = ["python -m coursekit.translator train", plan.corpus]
    for name in Plan.__dataclass_fields__:
        value, option = getattr(plan, name), "--" + name.replace("_", "-")
        if (
            value == getattr(usual, name)
            or name == "corpus"
            or (name == "epochs" and (plan.minutes or plan.tokens))
        ):
            continue
        if name == "lower":
            words.append(option if value else "--no-lower")
        elif name == "without":
            words += [f"--without {step}" for step in value]
        else:
            words.append(f"{option} {value:g}" if isinstance(value, float) else f"{option} {value}")
    return " ".join(words)


def _save_figure(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".part-{path.name}")
    figure.savefig(beside, dpi=140, format=path.suffix.lstrip(".") or "png")
    os.replace(beside, path)


def _number(kind: Callable[[str], float], least: float, below: float = math.inf) -> Callable[[str], float]:
    """A reader of numbers for ``argparse`` that takes only those from ``least`` on, below ``below``."""
    what = ("a whole number" if kind is int else "a number") + f" of at least {least:g}"
    what += "" if below == math.inf else f" and less than {below:g}"

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value < below:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return value

    return read


_COUNT, _SOME = _number(int, 0), _number(int, 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coursekit.translator",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--threads", type=_SOME, help="threads of PyTorch (default: its own choice)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    one = commands.add_parser(
        "train", help="train a translator, or go on training it", description=train.__doc__
    )
    one.add_argument("corpus", choices=CORPORA, help="the corpus; fetched when it is not here yet")
    one.add_argument("--out", type=Path, help="the run's folder (default: build/translator/CORPUS-DIRECTION)")
    one.add_argument("--notebook", type=Path, help="your notebook of lab 12, whose Transformer is trained")
    one.add_argument("--direction", choices=DIRECTIONS, help="default: de-en; both: one model, with a tag")
    one.add_argument("--lower", action=argparse.BooleanOptionalAction, default=None, help="lower case")
    one.add_argument(
        "--minutes", type=_number(float, 0), help="train for so long: the learning rate reaches 0 then"
    )
    one.add_argument(
        "--tokens",
        type=_COUNT,
        metavar="N",
        help="or until so many target tokens, however busy the machine is",
    )
    for name, kind, text in (
        ("epochs", _SOME, "passes over the corpus"),
        ("vocabulary", _SOME, "subwords, for both languages together"),
        ("d_model", _SOME, "width of the model"),
        ("heads", _SOME, "heads of each attention"),
        ("d_ff", _SOME, "width of the feed-forward layers"),
        ("layers", _SOME, "blocks in the encoder, and in the decoder"),
        ("dropout", _number(float, 0, 1), "share of each sublayer's output that is dropped"),
        ("batch_tokens", _SOME, "places in a batch, on either side"),
        ("rate", _number(float, 0), "highest learning rate"),
        ("warm_up", _SOME, "steps until the rate is highest"),
        ("smoothing", _number(float, 0, 1), "label smoothing"),
        ("weight_decay", _number(float, 0), "the optimiser's weight decay"),
        ("seed", int, "seed of weights, batches and dropout"),
        ("pairs", _COUNT, "use the first so many pairs only"),
    ):
        default = "" if name == "pairs" else f" (default: {getattr(Plan(), name)})"
        one.add_argument("--" + name.replace("_", "-"), type=kind, metavar="N", help=text + default)
    one.add_argument(
        "--optimiser",
        choices=OPTIMISERS,
        help="default: adamw; muon: Muon for the matrices inside, AdamW for all else",
    )
    one.add_argument(
        "--without",
        action="append",
        metavar="STEP",
        choices=WITHOUT,
        help="leave a way to save time out: " + ", ".join(WITHOUT),
    )
    one.add_argument(
        "--device",
        default="auto",
        help="cpu, cuda, or auto: a GPU when there is one, except for a model run as it is written",
    )
    one.add_argument(
        "--measure-every",
        type=_number(float, 0),
        default=1.0,
        metavar="MIN",
        help="minutes between measurements",
    )
    one.add_argument(
        "--bleu-sentences", type=_COUNT, default=0, metavar="N", help="measure BLEU, too, on so many"
    )
    one.set_defaults(run_command=train)

    for name, function, text in (
        ("evaluate", evaluate, "score a run on held-out sentences"),
        ("translate", translate, "translate sentences"),
        ("export", export, "write one small file to ship, and its model card"),
    ):
        other = commands.add_parser(name, help=text, description=function.__doc__)
        other.add_argument("run", type=Path, help="the folder of a training run, or an exported file")
        other.add_argument("--notebook", type=Path, help="your notebook of lab 12, whose Transformer it is")
        other.set_defaults(run_command=function)
        if name == "export":
            other.add_argument("--out", type=Path, required=True, help="the file to write")
            continue
        other.add_argument("--beam", type=_SOME, default=1, help="hypotheses at a time (default: 1, greedy)")
        other.add_argument(
            "--length-penalty", type=_number(float, 0), default=1.0, help="score = log P / n ** this"
        )
        other.add_argument(
            "--channel",
            type=float,
            default=0.0,
            metavar="W",
            help="rank what the beam found by the way back, too: score + W * log P(source | translation) / n "
            "(for a model of both directions; default: 0)",
        )
        other.add_argument(
            "--ensemble",
            type=Path,
            action="append",
            default=[],
            metavar="RUN",
            help="decide together with this run, trained with another --seed: the mean of the probabilities "
            "(may be given more than once)",
        )
        if name == "evaluate":
            other.add_argument("--split", default="test", choices=("validation", "test"))
            other.add_argument("--limit", type=_COUNT, default=0, help="the first so many sentences only")
            other.add_argument(
                "--samples", type=_COUNT, default=20, help="samples to show, at equal distances"
            )
            other.add_argument("--attention", action="store_true", help="draw an attention map")
        else:
            other.add_argument("sentences", nargs="*", help="the sentences (default: standard input)")
            other.add_argument(
                "--to", default="", choices=("", "en", "de"), help="for a model of both directions"
            )
            other.add_argument("--alternatives", type=_COUNT, default=0, metavar="N", help="show so many")
            other.add_argument("--attention", type=Path, metavar="PNG", help="draw the first one's attention")
    return parser


#: What ``train --without`` can leave out: the steps of the fast path, and the three that need no fast path.
WITHOUT = (
    "fast",
    "buckets",
    "optimiser",
    "real_tokens",
    "no_masks",
    "joint",
    "attention",
    "byte_dropout",
    "fused_loss",
    "bfloat16",
)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; a user error is one sentence and exit status 2."""
    options = _parser().parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        options.run_command(options)
    except (UserError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("agg")
    sys.exit(main())
