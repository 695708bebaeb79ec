"""What the demos work out in the browser is what NumPy, PyTorch and the labs' own functions say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import erf, lgamma
from typing import Any

import numpy as np
import pytest
from coursekit.demos import bundle
from pytest import approx

pytestmark = pytest.mark.xdist_group("site")

Demo = Callable[[str], Callable[..., Any]]


def softmax(scores: Any) -> Any:
    powers = np.exp(np.asarray(scores, dtype=float))
    return powers / powers.sum(axis=-1, keepdims=True)


def test_the_shared_mathematics_is_numpys(demo: Demo) -> None:
    ask = demo("02_dirichlet")
    scores = "1, -2, 3.5, -Infinity"
    assert ask(f"numbers.softmax([{scores}])") == approx(softmax([1, -2, 3.5, -np.inf]), abs=1e-12)
    for x in (0.1, 0.5, 1, 3.7, 80):
        assert ask("numbers.lnGamma(value)", x) == approx(lgamma(x), abs=1e-10)
    rolls = "(() => { const rng = numbers.random(3); return Array.from({length: 30000}, () => numbers.draw(rng, [.5, .2, .3])) })()"
    assert np.bincount(ask(rolls)) / 30_000 == approx([0.5, 0.2, 0.3], abs=0.01)


def test_01_the_chain_is_lab_01s_and_tosses_a_coin_at_ran(demo: Demo) -> None:
    from coursekit.data.names import names
    from coursekit.provided.p01_markov_bigram import average_nll, bigram_counts, normalise_rows

    ask, counts = demo("01_markov_graph"), bigram_counts(names())
    assert np.array_equal(ask("data.one"), counts)
    rows = np.array(ask("data.one.map((row, b) => demo.nextLetters(data, 1, 0, b))")[:27])
    assert rows == approx(normalise_rows(counts)[:27], abs=1e-12)
    one, two = ask("[data.surprise[1], data.surprise[2]]")
    assert one == approx(average_nll(normalise_rows(counts), names()), abs=1e-9) and two < one
    assert dict(ask("demo.nextWords(['ran'])")) == approx({"down": 0.4, "please": 0.6})
    assert ask("demo.nextWords(['battery', 'ran'])") == [["down", 1]]


def test_02_beliefs_are_the_dirichlets(demo: Demo) -> None:
    from coursekit.figures.dirichlet import dirichlet_log_density

    ask = demo("02_dirichlet")
    middles = np.array(ask("demo.MIDDLES"))  # small triangles of one size
    assert middles.shape == (26**2, 3) and middles.sum(axis=1) == approx(1)
    density = np.array(ask("demo.MIDDLES.map((p) => demo.logDensity(p, [5.5, 3.5, 1.5]))"))
    assert density == approx(dirichlet_log_density(middles, [5.5, 3.5, 1.5]), abs=1e-9)
    by_sum = (np.exp(density)[:, None] * middles).sum(axis=0) / np.exp(density).sum()
    assert ask("demo.believed([4, 2, 0], 1.5)") == approx(by_sum, abs=2e-3)
    title = ask("demo.say({thing: 'die', seen: 6, alpha: 1, seed: 1, said: '001001'}, data).title")
    assert title == "C never came in 6 throws, and still gets 11.1%"  # (0 + 1) / (6 + 3)


def test_03_the_votes_are_five_to_four_and_the_mask_decides(demo: Demo) -> None:
    ask = demo("03_votes_and_mask")
    every, knows, half = [1] * 9, [0, 0, 1, *[0] * 6], [0.3, 0.3, 1, *[0.3] * 6]
    totals = [
        ask("demo.totals(...value)", asked)
        for asked in (["program", every], ["battery", every], ["battery", knows])
    ]
    assert totals == [[4, 5], [5, 4], [1, 0]]
    shaken = np.array(ask("demo.votes('battery')")) + np.random.default_rng(0).normal(0, 0.4, (100_000, 9, 2))
    wrong = np.mean(np.diff((np.array(half)[:, None] * shaken).sum(axis=1)) > 0)
    assert ask("demo.lead('battery', value, 0.4).wrong", half) == approx(wrong, abs=0.006)
    places = [-2.5, -0.3, 0.0, 1.0, 4.0]
    assert ask("value.map(demo.erf)", places) == approx([erf(x) for x in places], abs=1e-9)


def test_04_merges_are_those_of_lab_04s_tokenizer(demo: Demo) -> None:
    from coursekit.provided.p04_tokenizer import train_bpe

    ask = demo("04_merge_stepper")
    for text in ("rhyme", "letters", "motto"):
        words = [word for line in ask("demo.chunks(value)", text) for word in line]
        learned = train_bpe({tuple(word.encode()): words.count(word) for word in words}, 50)
        spelling, pairs = {byte: chr(byte) for byte in range(256)}, []
        for (left, right), new in learned.items():
            pairs.append([spelling[left], spelling[right]])
            spelling[new] = spelling[left] + spelling[right]
        assert ask("demo.history(value).slice(1).map((s) => s.pair)", text) == pairs
    assert ask("demo.history('rhyme').slice(1, 3).map((s) => s.often)") == [13, 12]
    assert "".join(ask("demo.history('letters')[3].spelled.get('aaabdaaabac')")) == "aaabdaaabac"
    assert ask("demo.history('letters')[3].spelled.get('aaabdaaabac').length") == 5
    assert ask("demo.cut('rhyme', 50, 'seashore')")[:2] == ["se", "a"]
    assert ask("demo.history('rhyme')[50].types") == 18


def test_05_the_recording_begins_with_knowing_nothing_and_ends_with_neighbours(demo: Demo) -> None:
    record = json.loads(bundle.data("05_word_map"))
    assert record["loss"][0] == approx(6 * np.log(2), abs=1e-3)
    first, last = ({name for name, _ in record["near"]["january"][n]} for n in (0, -1))
    assert last <= set(record["groups"]["months"]) and not first & set(record["groups"]["months"])
    inside, outside = np.array(record["alike"]).T
    assert abs(inside[0] - outside[0]) < 0.05 < 0.4 < inside[-1] - outside[-1]
    title = demo("05_word_map")("demo.say({step: 24, word: 'january'}, data).title")
    assert f"cosine {inside[-1]:.2f} within a group" in title


def test_06_hands_show_the_labs_table_and_likeness_depends_on_distance_only(demo: Demo) -> None:
    from coursekit.provided.p06_positions import sinusoidal

    table = np.array(demo("06_clock_hands")("Array.from({length: 49}, (_, t) => demo.row(t, 100))"))
    assert table == approx(sinusoidal(49, 8, 100.0), abs=1e-6)
    assert np.diag(table @ table.T, 5) == approx((table @ table.T)[0, 5])


def test_07_weights_are_a_kernel_and_a_softmax_at_once(demo: Demo) -> None:
    ask, places = demo("07_kernel_to_attention"), np.arange(11.0)
    arrows = np.array(ask("value.map(demo.arrow)", places.tolist()))
    for sigma in (0.1, 0.6, 20.0):
        for query in (0.0, 3.3, 8.1):
            row = ask("demo.weights(...value, 'distance')", [query, sigma])
            assert row == approx(softmax(-((query - places) ** 2) / (2 * sigma**2)), abs=1e-9)
            # arrows of one length: the kernel of their distance is the softmax of their dot products
            squares = ((np.array(ask("demo.arrow(value)", query)) - arrows) ** 2).sum(axis=-1)
            row = ask("demo.weights(...value, 'product')", [query, sigma])
            assert row == approx(softmax(-squares / (2 * sigma**2)), abs=1e-9)
    note = ask("demo.say({sigma: .1, query: 4.2, score: 'distance', heights: ''}, data).note")
    assert f"= {ask('data.heights[4]'):.2f}".replace("-", "−") in note


def test_07_painted_rows_add_up_to_one_and_closed_weights_are_zero(demo: Demo) -> None:
    ask = demo("07_mask_painter")
    queries, keys = np.random.default_rng(4).normal(size=(2, 7, 16)).round(5)
    for which, title in {
        "demo.CAUSAL": "The future is closed: 21 scores are −∞, 21 weights are 0",
        "demo.PADDED": "7 scores are −∞: in these rows the others share the weight",
        # the last row may not hear the first token, which is not in its future
        "demo.CAUSAL.slice(0, 42) + '0111111'": "The future and 1 more are closed: 22 weights are 0",
    }.items():
        mask = np.array([c == "1" for c in ask(which)]).reshape(7, 7)
        heard = np.array(ask(f"demo.weights({{mask: {which}, scale: 4}}, data).heard"))
        assert heard == approx(softmax(np.where(mask, queries @ keys.T / 4, -np.inf)), abs=1e-9)
        assert ask(f"demo.say({{mask: {which}, scale: 4, row: 4}}, data).title") == title
    title = ask("demo.say({mask: demo.STRICT, scale: 4, row: 4}, data).title")
    assert title == "“<sos>” may hear nobody: 0/0, the softmax has no answer"


def test_08_the_recorded_heads_are_the_trained_encoders(demo: Demo) -> None:
    from coursekit.provided.p12_translator import Transformer
    from coursekit.translator.attention_map import self_attention_from
    from coursekit.translator.word_model import load

    ask, (model, english, _) = demo("08_head_grid"), load(Transformer)
    for end, whom in (("tired", "animal"), ("wide", "street")):
        words = ask("data[value].words", end)
        it = words.index("it")
        maps = np.array([ask("demo.mapOf(data, value)", {"end": end, "head": h}) for h in range(8)])
        assert maps.shape == (8, 13, 13) and maps.sum(axis=-1) == approx(1, abs=0.01)
        loudest = self_attention_from(model, [english.numbers[word] for word in words], it)
        assert maps.reshape(2, 4, 13, 13)[:, :, it].max(axis=1) == approx(loudest.numpy(), abs=2e-3)
        title = ask("demo.say(value, data).title", {"end": end, "head": 4, "listener": 8})
        assert f"hears “{whom}” most" in title


def test_09_the_shapes_are_those_of_the_labs_blocks(demo: Demo) -> None:
    import torch
    from coursekit.figures.block_shapes import stations
    from coursekit.provided.p08_multi_head import attention_maps
    from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock

    ask = demo("09_block_shapes")
    names = {"x": "input x", "queries": "self: Q, K, V", "weights": "self: weights", "heard": "self: W_O"}
    names |= {"linear1, ReLU": "linear1, ReLU", "linear2": "linear2", "norm2": "add & norm"}
    for T, D, h in ((5, 32, 4), (10, 8, 8), (2, 64, 1)):
        encoder, decoder = blocks = EncoderBlock(D, h, 4 * D), DecoderBlock(D, h, 4 * D)
        shapes = []
        for kind, block in zip(("encoder", "decoder"), blocks, strict=True):
            stops = ask("demo.walk(value)", {"block": kind, "T": T, "D": D, "heads": h})
            assert sum(p.numel() for p in block.parameters()) == sum(stop["weights"] for stop in stops)
            shapes.append({stop["name"]: stop["shape"] for stop in stops})
        x, memory = torch.zeros(2, T, D), torch.zeros(2, 6, D)
        measured = stations(encoder, x)
        assert [list(measured[ours]) for ours in names] == [shapes[0][theirs] for theirs in names.values()]
        for part, heads in attention_maps(decoder, x, memory).items():
            assert list(heads.shape) == shapes[1][f"{part.partition('_')[0]}: weights"]


def test_10_the_recorded_runs_begin_at_chance_and_have_the_labs_rate(demo: Demo) -> None:
    from coursekit.models.reversing import V
    from coursekit.provided.p10_training import noam_rate

    ask, record = demo("10_skips_and_warmup"), json.loads(bundle.data("10_skips_and_warmup"))
    for step in (1, 50, 100, 250):
        assert ask("demo.rate(value, 1, 1)", step) == approx(noam_rate(step, 512, 100))
    assert ask("demo.rate(1, 0, 3)") == approx(3 * noam_rate(100, 512, 100))
    for run in record.values():
        assert np.array(run["gradient"]).shape == (40, 4) and run["loss"][0] == approx(np.log(V), abs=0.3)
    learned = {called for called, run in record.items() if run["loss"][-1] < 0.5}
    assert learned == {"skips, warm-up, 1", "skips, no warm-up, 1", "skips, warm-up, 3"}
    assert ask("[0.013, 3e-8, 1.2e-11].map(demo.power)") == ["0.013", "3·10⁻⁸", "1·10⁻¹¹"]
    bare = ask("demo.say({skips: 0, warm: 1, factor: 1, time: 39}, data).title")
    assert bare.startswith("No skips, warm-up: it hardly learns")


def test_11_the_knobs_and_the_beams_do_what_the_lab_does(demo: Demo) -> None:
    from coursekit.provided import p11_decoding as lab

    ask = demo("11_sampling")
    p = np.log(ask("demo.starting('a', data).p"))
    for knobs, wanted in (
        ([0.7, 28, 1.0], lab.temperature_probs(p, 0.7)),
        ([1.0, 4, 1.0], lab.top_k(p, 4)),
        ([1.0, 28, 0.6], lab.top_p(p, 0.6)),
    ):
        assert ask("demo.chosen(demo.starting('a', data).p, ...value)", knobs) == approx(wanted, abs=1e-6)
    assert ask("demo.chosen([.5, .3, .2], 1, 3, 1)") == approx([0.5, 0.3, 0.2])
    ask = demo("11_beam_tree")
    last = "(([, r]) => [[...r.candidates.values()], [...r.kept.keys()]])(demo.search(demo.TREES[value[0]], value[1]))"
    sums, kept = ask(last, ["sums", 2])
    assert sorted(round(value, 1) for value in sums) == [-3.9, -2.3, -2.1, -1.6]
    assert set(kept) == {"The cat", "The dog"}
    assert [max(np.exp(ask(last, ["trap", k])[0])) for k in (1, 2, 3)] == approx([0.20, 0.28, 0.28])


def test_12_the_word_model_in_the_browser_is_pytorchs(demo: Demo) -> None:
    import torch
    from coursekit.data import parallel
    from coursekit.data.vocabulary import BOS
    from coursekit.provided.p12_translator import Transformer, translate
    from coursekit.translator.attention_map import alignment
    from coursekit.translator.word_model import load

    ask, (model, english, german) = demo("12_translator"), load(Transformer)
    for sentence, right in parallel.load("test_coreference")[::40][:4]:
        assert ask("demo.tokenize(value)", sentence) == parallel.tokenize(sentence)
        source = english.encode(sentence)
        spoken = translate(model, source, max_length=15)
        steps = ask("demo.told(value, data).steps", {"sentence": sentence, "prefix": ""})
        assert [step["word"] for step in steps][: len(spoken)] == spoken
        with torch.no_grad():
            p = model(torch.tensor([source]), torch.tensor([[BOS, *spoken]]))[0].double().softmax(dim=-1)
        assert np.array([step["p"] for step in steps]) == approx(p.numpy()[: len(steps)], abs=1e-4)
        heard = np.array([step["heard"] for step in steps])
        assert heard == approx(alignment(model, source, spoken).numpy()[: len(heard)], abs=1e-4)
        words = [german.words[n] for n in spoken]
        assert ask("demo.detokenize(value)", words) == parallel.detokenize(words) == right


def test_12_everyday_sentences_are_translated_both_ways_as_the_command_line_does(demo: Demo) -> None:
    from coursekit.data import path
    from coursekit.translator.attention_map import alignment
    from coursekit.translator.translator import Translator

    ask, machine = demo("12_everyday"), Translator.load(path("tatoeba/translator.pt"))
    for sentence, to in (
        ("Where did you learn German?", "de"),
        ("It's 5 o'clock, isn't it?", "de"),
        ("Der Bahnhofsvorsteher lacht über den Käse.", "en"),
    ):
        source = machine.sources([sentence], to)[0]
        assert ask("data.subwords.encode(value)", sentence) == source[1:]
        wanted = machine.translate([sentence], to, beam=5)[0]
        found = ask("demo.told(value, data).found", {"sentence": sentence, "to": to})
        assert [one["text"] for one in found] == [text for text, _ in wanted]
        assert [one["score"] for one in found] == approx([score for _, score in wanted], abs=1e-4)
        heard = alignment(machine.model, source, machine.subwords.encode([found[0]["text"]])[0])[:, 1:]
        assert np.array(found[0]["heard"]) == approx(heard.numpy(), abs=1e-4)
    asked = (("Was machst du morgen?", "de"), ("What is it?", "de"))
    assert [ask("modules['subwords.js'].looksWrong(...value)", one) for one in asked] == [True, False]


@contextmanager
def heads_off(model: Any, off: str) -> Iterator[None]:
    """The model with these heads silent: the columns of W_O that hear them are zero."""
    import torch

    parts = {"e": "encoder attention", "d": "decoder self_attention", "c": "decoder cross_attention"}
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad():
        for kind, layer, _, head in off.split():  # c1.0
            stack, part = parts[kind].split()
            weight = getattr(getattr(model, stack)[int(layer)], part).W_O.weight
            size = weight.shape[1] // 4
            weight[:, int(head) * size : (int(head) + 1) * size] = 0
    yield
    model.load_state_dict(before)


INSIDE = {"sentence": "I don't know what you want.", "to": "de", "prefix": "", "off": ""}


@pytest.mark.parametrize("off", ["", "e0.1 d1.3 c0.2"])
def test_12_inside_every_map_and_logit_is_pytorchs_also_with_heads_off(demo: Demo, off: str) -> None:
    import torch
    from coursekit.data import path
    from coursekit.provided.p08_multi_head import attention_maps
    from coursekit.translator.translator import Translator

    ask, machine, state = (
        demo("12_inside"),
        Translator.load(path("tatoeba/translator.pt")),
        {**INSIDE, "off": off},
    )
    words = ask("demo.run(value, data).words", state)
    source, target = (
        torch.tensor(machine.sources([INSIDE["sentence"]], "de")),
        torch.tensor([[1, *words[:-1]]]),
    )
    with heads_off(machine.model, off), torch.no_grad():
        logits = machine.model(source, target)[0]
        maps = list(attention_maps(machine.model, source, target).values())
    ours = np.array(ask("demo.run(value, data).steps.map((one) => [...one.logits])", state))
    assert np.abs(ours - logits.numpy()).max() < 1e-4 and logits.argmax(dim=-1).tolist() == words
    places = ["e0", "e1", "d0", "c0", "d1", "c1"]  # as they follow each other in the model
    for place, heads in zip(places, maps, strict=True):
        for head in range(4):
            rows = ask("demo.headOf(value[0], demo.run(value[1], data)).map", [f"{place}.{head}", state])
            for row, wanted in zip(rows, heads[0, head].tolist(), strict=True):
                assert row == approx(wanted[: len(row)], abs=1e-4) and not any(wanted[len(row) :]), place


def test_12_inside_one_number_is_a_query_times_a_key_and_one_head_alone_holds_the_not(demo: Demo) -> None:
    import torch
    from coursekit.data import path
    from coursekit.translator.translator import Translator

    ask, machine = demo("12_inside"), Translator.load(path("tatoeba/translator.pt"))
    number = ask("demo.numberOf(value, demo.run(value, data))", {**INSIDE, "at": "e1.2", "row": 3, "col": 5})
    kept: dict[str, Any] = {}
    for part in ("W_Q", "W_K"):
        getattr(machine.model.encoder[1].attention, part).register_forward_hook(
            lambda _, __, out, part=part: kept.__setitem__(part, out[0, :, 96:144])
        )
    with torch.no_grad():
        machine.model(torch.tensor(machine.sources([INSIDE["sentence"]], "de")), torch.tensor([[1]]))
    scores = kept["W_Q"][3] @ kept["W_K"].T / 48**0.5
    wanted = {"query": kept["W_Q"][3], "key": kept["W_K"][5], "scores": scores, "row": scores.softmax(dim=0)}
    for part, values in wanted.items():
        assert number[part] == approx(values.tolist(), abs=1e-4), part
    heads = [f"{kind}{layer}.{head}" for kind in "edc" for layer in (0, 1) for head in range(4)]
    told = {off: ask("demo.run(value, data).text", {**INSIDE, "off": off}) for off in ["", *heads]}
    changed = {off: text for off, text in told.items() if text != told[""]}
    assert changed == {"c1.0": "Ich weiß, was du willst."}


def test_13_pairs_are_those_of_the_mask(demo: Demo) -> None:
    ask = demo("13_mask_gallery")
    count = (
        "Array.from({length: value[1] ** 2}, (_, n) => demo.allows(value[0], value[2], Math.floor(n / value[1]),"
        " n % value[1])).filter(Boolean).length"
    )
    for kind in ("full", "causal", "local", "dilated", "global"):
        for T, width in ((6, 1), (7, 5), (24, 3)):
            assert ask("demo.pairs(...value)", [kind, T, width]) == ask(count, [kind, T, width])
    assert ask("demo.pairs('causal', 7, 1)") == 49 - 21
    # fifteen steps, two a layer; at once; an even number of steps never makes fifteen
    assert [ask("demo.reach(value, 16, 2)", kind) for kind in ("local", "global", "dilated")] == [8, 1, None]


def test_13_patches_are_scikit_learns_digits_and_a_shuffle_loses_none(demo: Demo) -> None:
    from sklearn.datasets import load_digits

    ask, found = demo("13_vit_patches"), load_digits()
    for number in (0, 4, 9):
        image = np.array(ask("demo.image({digit: value, ink: ''}, data)", number)).reshape(8, 8)
        assert np.array_equal(image * 16, found.images[found.target == number][0])
        for p in (1, 2, 4, 8):
            cut = [image.ravel()[places] for places in ask("demo.patches(value)", p)]
            assert np.array_equal(cut[-1].reshape(p, p), image[-p:, -p:]) and len(cut) == (8 // p) ** 2
            for seed in (3, 4):
                read = ask("demo.order(value)", {"p": p, "order": "shuffled", "seed": seed, "swaps": ""})
                assert sorted(read) == list(range(len(cut))) and (read != sorted(read) or p == 8)
    assert ask("demo.order({p: 2, order: 'kept', seed: 1, swaps: '0-15,3-4'})")[:5] == [15, 1, 2, 4, 3]


def test_13_mel_frames_are_those_of_the_labs_filters(demo: Demo) -> None:
    from autograder.course.masters import solution_source

    lab: dict[str, Any] = {"np": np, "mel_filters": _mel_filters}
    exec(solution_source("13_beyond", "mel_spectrogram"), lab)
    ask = demo("13_sound_to_mel")
    for which in ("octaves", "vowels", "tone", "hum"):
        signal = np.array(ask("[...demo.sound(value)]", which))
        for frame, bands in ((256, 20), (512, 40)):
            wanted = lab["mel_spectrogram"](signal, 8000, frame, frame // 2, bands)
            assert np.array(ask("demo.mels(...value)", [which, frame, bands])) == approx(wanted, abs=1e-6)
    power = np.array(ask("demo.powers('tone', 512)"))
    assert np.abs(power.argmax(axis=1) * 8000 / 512 - 440).max() <= 8000 / 512


def _mel_filters(n_mels: int, frame: int, rate: int) -> Any:
    """Triangles between corners that are evenly spaced in mel: the lower of their two sides, and never below zero."""
    highest = 2595 * np.log10(1 + rate / 2 / 700)
    low, centre, high = (
        (700 * (10 ** (np.linspace(0, highest, n_mels + 2) / 2595) - 1))[k : k + n_mels, None]
        for k in range(3)
    )
    f = np.arange(frame // 2 + 1) * rate / frame
    return np.maximum(0.0, np.minimum((f - low) / (centre - low), (high - f) / (high - centre)))
