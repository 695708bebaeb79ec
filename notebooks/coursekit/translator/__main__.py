"""The translator on real sentences: ``python -m coursekit.translator train | evaluate | translate``.

    python -m coursekit.translator train multi30k --out build/translator/de-en --minutes 12
    python -m coursekit.translator evaluate build/translator/de-en --beam 5
    python -m coursekit.translator translate build/translator/de-en "Ein Hund läuft durch den Schnee."

The model is lab 12's ``Transformer``, from your notebook (``--notebook``) or the course's. The same command resumes an
interrupted training run. A finished run leaves ``translator.pt``, a small file that can be used instead of the folder.
``--plan`` changes the corpus's usual plan: ``--plan dropout=0.2 seed=1``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coursekit.errors import UserError
from coursekit.translator.batches import numbered, sentences
from coursekit.translator.model import build_model, device_for, load_lab_12, load_tensors
from coursekit.translator.plan import CORPORA, DIRECTIONS, Plan, changes, plan_for
from coursekit.translator.run import Run
from coursekit.translator.subwords import Subwords
from coursekit.translator.translator import Translator


def train(options: argparse.Namespace) -> None:
    """Train a model, or resume its training. Options that are not given have the corpus's usual values."""
    device = device_for()
    plan = plan_for(options.corpus, device.type, direction=options.direction, **changes(options.plan))
    folder = options.out or Path("build") / "translator" / f"{plan.corpus}-{plan.direction}"
    build, make_batch = load_lab_12(options.notebook)
    text, unseen = (
        sentences(plan.corpus, split, plan.direction, plan.pairs) for split in ("train", "validation")
    )
    if (folder / "checkpoint.pt").is_file():
        subwords = Subwords.of_checkpoint(load_tensors(folder / "checkpoint.pt"))
    else:
        subwords = Subwords.learn((one for pair in text for one in pair), plan.vocabulary, plan.lower)
        print(f"{len(subwords):,} subwords learned", flush=True)
    pairs = numbered(subwords, text, plan.direction)
    held_out = numbered(subwords, unseen, plan.direction)
    model = build_model(build, len(subwords), plan).to(device)
    size = sum(parameter.numel() for parameter in model.parameters())
    left_out = f" ({len(text) - len(pairs):,} are too long)" if len(pairs) < len(text) else ""
    print(f"{size:,} parameters, from {len(pairs):,} pairs{left_out}, on {device}", flush=True)
    run = Run(folder, plan, model, make_batch, pairs, held_out, subwords, graphs=options.graphs)
    if run.taken:
        print(f"Going on from step {run.taken:,}.", flush=True)
    run.go(lambda line: print(line, flush=True))
    if run.finished:
        Translator(model, subwords, plan).save(folder / "translator.pt")
        print(f"Finished. Next: python -m coursekit.translator evaluate {folder}")


def evaluate(options: argparse.Namespace) -> None:
    """Translate a split, show its sacreBLEU scores and signatures for each direction, and 20 samples."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    translator = _loaded(options)
    plan = translator.plan
    for direction in plan.directions:
        pairs = sentences(plan.corpus, options.split, direction, options.limit)
        sources, references = zip(*pairs, strict=True)
        began = time.perf_counter()
        best = [row[0][0] for row in translator.translate(sources, direction[-2:], beam=options.beam)]
        seconds = time.perf_counter() - began
        print(f"{direction}: {len(best):,} sentences in {seconds:.1f} s, beam {options.beam}")
        for metric in (BLEU(lowercase=plan.lower), CHRF(lowercase=plan.lower)):
            score = metric.corpus_score(best, [references])
            print(f"  {score.name} {score.score:.2f}  ({metric.get_signature()})", flush=True)
        step = max(1, len(best) // 20)  # samples are evenly spaced, not chosen by a person
        for sample in [*zip(sources, best, references, strict=True)][step // 2 :: step][:20]:
            print("\n  {}\n  → {}\n  = {}".format(*sample), flush=True)


def translate(options: argparse.Namespace) -> None:
    """Translate sentences from the command line, or from standard input, one in each line."""
    texts = options.sentences or [line.strip() for line in sys.stdin if line.strip()]
    beam = max(options.beam, options.alternatives)
    rows = _loaded(options).translate(texts, options.to, beam=beam)
    for text, row in zip(texts, rows, strict=True):
        if options.alternatives:
            print(text)
            for translation, score in row[: options.alternatives]:
                print(f"  {score:7.3f}  {translation}")
        else:
            print(row[0][0])


def _loaded(options: argparse.Namespace) -> Translator:
    translator = Translator.load(options.run, load_lab_12(options.notebook)[0])
    translator.model.to(device_for())
    return translator


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coursekit.translator",
        description=(__doc__ or "").replace("``", ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(function: Callable[..., None], text: str) -> Callable[..., Any]:
        made = commands.add_parser(function.__name__, help=text, description=function.__doc__)
        made.set_defaults(run_command=function)
        own = "your notebook of lab 12, whose Transformer it is"
        made.add_argument("--notebook", type=Path, metavar="FILE", help=own)
        if function is not train:
            made.add_argument("run", type=Path, help="the folder of a training run, or its translator.pt")
            beam = "hypotheses at a time (default: 1, greedy)"
            made.add_argument("--beam", type=int, default=1, metavar="N", help=beam)
        return made.add_argument

    add = command(train, "train a translator, or go on")
    add("corpus", choices=CORPORA, help="the corpus; downloaded once")
    where = "the run's folder (default: build/translator/CORPUS-DIRECTION)"
    add("--out", type=Path, metavar="FOLDER", help=where)
    add("--direction", choices=DIRECTIONS, help="default: de-en; both: one model, and a tag names the target")
    graphs = "on a GPU, launch each kernel separately instead of whole steps as CUDA graphs"
    add("--no-graphs", dest="graphs", action="store_false", help=graphs)
    also: dict[str, Any] = {"action": "append", "dest": "plan", "default": [], "metavar": "N"}
    minutes = "how long to train; the learning rate reaches 0 at the end"
    add("--minutes", type="minutes={}".format, help=minutes, **also)
    tokens = "or how many target tokens to train on, on a machine of any speed"
    add("--tokens", type="tokens={}".format, help=tokens, **also)
    usual = ", ".join(f"{name}={json.dumps(value)}" for name, value in asdict(Plan()).items())
    change = f"change the plan; multi30k's is {usual}"
    add("--plan", action="extend", nargs="+", default=[], metavar="NAME=VALUE", help=change)

    add = command(evaluate, "score a run on held-out sentences")
    add("--split", default="test", choices=("validation", "test"), help="default: test")
    add("--limit", type=int, default=0, metavar="N", help="score only the first N sentences")

    add = command(translate, "translate sentences")
    add("sentences", nargs="*", help="the sentences (default: standard input, one a line)")
    add("--to", default="", choices=("en", "de"), help="for a model of both directions (default: en)")
    add("--alternatives", type=int, default=0, metavar="N", help="show N translations with their scores")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run a command. A ``UserError`` gives one sentence and exit status 2."""
    options = _parser().parse_args(arguments)
    try:
        options.run_command(options)
    except (UserError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
