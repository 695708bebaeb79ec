"""What the demos work out in the browser is what NumPy, PyTorch and the labs' own functions say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from coursekit import data
from coursekit.data import parallel
from coursekit.data.names import names
from coursekit.data.vocabulary import BOS
from coursekit.figures.dirichlet import dirichlet_log_density
from coursekit.provided import p01_markov_bigram as bigrams
from coursekit.provided import p11_decoding as decoding
from coursekit.provided.p04_tokenizer import train_bpe
from coursekit.provided.p06_positions import sinusoidal
from coursekit.provided.p08_multi_head import attention_maps
from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock
from coursekit.provided.p10_training import noam_rate
from coursekit.provided.p12_translator import Transformer, translate
from coursekit.translator.attention_map import alignment, self_attention_from
from coursekit.translator.translator import Translator
from coursekit.translator.word_model import load
from pytest import approx
from scipy.special import softmax

from autograder.course.masters import solution

pytestmark = pytest.mark.xdist_group("site")

Demo = Callable[[str], Callable[..., Any]]


def test_01_the_chain_is_lab_01s_and_tosses_a_coin_at_ran(demo: Demo) -> None:
    ask, P = demo("01_markov_graph"), bigrams.normalise_rows(bigrams.bigram_counts(names()))
    rows = np.array(ask("data.one.map((row, b) => demo.nextLetters(data, 1, 0, b))")[:27])
    assert rows == approx(P[:27], abs=1e-12)
    assert ask("data.surprise[1]") == approx(bigrams.average_nll(P, names()), abs=1e-9)
    assert dict(ask("demo.nextWords(['ran'])")) == approx({"down": 0.4, "please": 0.6})


def test_02_beliefs_are_the_dirichlets(demo: Demo) -> None:
    ask = demo("02_dirichlet")
    density = np.array(ask("demo.MIDDLES.map((p) => demo.logDensity(p, [5.5, 3.5, 1.5]))"))
    middles = np.array(ask("demo.MIDDLES"))
    assert density == approx(dirichlet_log_density(middles, [5.5, 3.5, 1.5]), abs=1e-9)
    by_sum = (np.exp(density)[:, None] * middles).sum(axis=0) / np.exp(density).sum()
    assert ask("demo.believed([4, 2, 0], 1.5)") == approx(by_sum, abs=2e-3)
    rolls = "(() => { const rng = numbers.random(3); return Array.from({length: 30000}, () => numbers.draw(rng, [.5, .2, .3])) })()"
    assert np.bincount(ask(rolls)) / 30_000 == approx([0.5, 0.2, 0.3], abs=0.01)


def test_03_the_votes_are_five_to_four_and_the_mask_decides(demo: Demo) -> None:
    ask = demo("03_votes_and_mask")
    every, knows = [1] * 9, [0, 0, 1, *[0] * 6]
    asked = (["program", every], ["battery", every], ["battery", knows])
    assert [ask("demo.totals(...value)", one) for one in asked] == [[4, 5], [5, 4], [1, 0]]


def test_04_merges_are_those_of_lab_04s_tokenizer(demo: Demo) -> None:
    ask = demo("04_merge_stepper")
    words = [word for line in ask("demo.chunks('rhyme')") for word in line]
    learned = train_bpe({tuple(word.encode()): words.count(word) for word in words}, 50)
    spelling, pairs = {byte: chr(byte) for byte in range(256)}, []
    for (left, right), new in learned.items():
        pairs.append([spelling[left], spelling[right]])
        spelling[new] = spelling[left] + spelling[right]
    assert ask("demo.history('rhyme').slice(1).map((s) => s.pair)") == pairs
    assert ask("demo.history('rhyme').slice(1, 3).map((s) => s.often)") == [13, 12]


def test_06_hands_show_the_labs_table(demo: Demo) -> None:
    table = np.array(demo("06_clock_hands")("Array.from({length: 49}, (_, t) => demo.row(t, 100))"))
    assert table == approx(sinusoidal(49, 8, 100.0), abs=1e-6)


def test_07_weights_are_a_kernel_and_a_softmax_at_once(demo: Demo) -> None:
    ask, places = demo("07_kernel_to_attention"), np.arange(11.0)
    arrows = np.array(ask("value.map(demo.arrow)", places.tolist()))
    # arrows of one length: the kernel of their distance is the softmax of their dot products
    squares = ((np.array(ask("demo.arrow(3.3)")) - arrows) ** 2).sum(axis=-1)
    for score, far in (("distance", (3.3 - places) ** 2), ("product", squares)):
        row = ask("demo.weights(3.3, .6, value)", score)
        assert row == approx(softmax(-far / (2 * 0.6**2)), abs=1e-9)


def test_07_painted_rows_add_up_to_one_and_closed_weights_are_zero(demo: Demo) -> None:
    ask = demo("07_mask_painter")
    queries, keys = np.random.default_rng(4).normal(size=(2, 7, 16)).round(5)
    heard = np.array(ask("demo.weights({mask: demo.CAUSAL, scale: 4}, data).heard"))
    masked = np.where(np.tri(7, dtype=bool), queries @ keys.T / 4, -np.inf)
    assert heard == approx(softmax(masked, axis=-1), abs=1e-9)
    title = ask("demo.say({mask: demo.STRICT, scale: 4, row: 4}, data).title")
    assert title == "“<bos>” may hear nobody: 0/0, the softmax has no answer"


def test_08_the_recorded_heads_are_the_trained_encoders(demo: Demo) -> None:
    ask, (model, english, _) = demo("08_head_grid"), load(Transformer)
    for end in ("tired", "wide"):
        words = ask("data[value].words", end)
        it = words.index("it")
        maps = np.array([ask("demo.mapOf(data, value)", {"end": end, "head": h}) for h in range(8)])
        loudest = self_attention_from(model, [english.numbers[word] for word in words], it)
        assert maps.reshape(2, 4, 13, 13)[:, :, it].max(axis=1) == approx(loudest.numpy(), abs=2e-3)


def test_09_the_shapes_are_those_of_the_labs_blocks(demo: Demo) -> None:
    ask, (T, D, h) = demo("09_block_shapes"), (10, 8, 8)
    encoder, decoder = EncoderBlock(D, h, 4 * D), DecoderBlock(D, h, 4 * D)
    for kind, block in (("encoder", encoder), ("decoder", decoder)):
        stops = ask("demo.walk(value)", {"block": kind, "T": T, "D": D, "heads": h})
        assert sum(p.numel() for p in block.parameters()) == sum(stop["weights"] for stop in stops)
    shapes = {stop["name"]: stop["shape"] for stop in stops}
    for part, heads in attention_maps(decoder, torch.zeros(2, T, D), torch.zeros(2, 6, D)).items():
        assert list(heads.shape) == shapes[f"{part.partition('_')[0]}: weights"]


def test_10_the_recorded_runs_have_the_labs_rate(demo: Demo) -> None:
    ask = demo("10_skips_and_warmup")
    for step in (1, 50, 100, 250):
        assert ask("demo.rate(value, 1, 1)", step) == approx(noam_rate(step, 512, 100))
    learned = "Object.entries(data).filter(([_, run]) => run.loss.at(-1) < .5).map(([name]) => name)"
    assert set(ask(learned)) == {"skips, warm-up, 1", "skips, no warm-up, 1", "skips, warm-up, 3"}


def test_11_the_knobs_and_the_beams_do_what_the_lab_does(demo: Demo) -> None:
    ask = demo("11_sampling")
    p = np.log(ask("demo.starting('a', data).p"))
    for knobs, wanted in (
        ([0.7, 28, 1.0], decoding.temperature_probs(p, 0.7)),
        ([1.0, 4, 1.0], decoding.top_k(p, 4)),
        ([1.0, 28, 0.6], decoding.top_p(p, 0.6)),
    ):
        assert ask("demo.chosen(demo.starting('a', data).p, ...value)", knobs) == approx(wanted, abs=1e-6)
    last = "(([, r]) => [[...r.candidates.values()], [...r.kept.keys()]])(demo.search(demo.TREES.sums, 2))"
    sums, kept = demo("11_beam_tree")(last)
    assert sorted(round(value, 1) for value in sums) == [-3.9, -2.3, -2.1, -1.6]
    assert set(kept) == {"The cat", "The dog"}


def test_12_the_word_model_in_the_browser_is_pytorchs(demo: Demo) -> None:
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
    ask, machine = demo("12_everyday"), Translator.load(data.path("tatoeba/translator.pt"))
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


INSIDE = {"sentence": "I don't know what you want.", "to": "de", "prefix": "", "off": ""}


def test_12_inside_every_map_and_logit_is_pytorchs_also_with_heads_off(demo: Demo) -> None:
    ask, machine = demo("12_inside"), Translator.load(data.path("tatoeba/translator.pt"))
    off = "e0.1 d1.3 c0.2"
    state = {**INSIDE, "off": off}
    words = ask("demo.run(value, data).words", state)
    source = torch.tensor(machine.sources([INSIDE["sentence"]], "de"))
    target = torch.tensor([[1, *words[:-1]]])
    stacks = {"e": "encoder", "d": "decoder", "c": "decoder"}
    parts = {"e": "attention", "d": "self_attention", "c": "cross_attention"}
    with torch.no_grad():
        for kind, layer, _, head in off.split():  # c1.0: the columns of W_O that hear it are silent
            block = getattr(machine.model, stacks[kind])[int(layer)]
            getattr(block, parts[kind]).W_O.weight[:, 48 * int(head) : 48 * (int(head) + 1)] = 0
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
    ask, machine = demo("12_inside"), Translator.load(data.path("tatoeba/translator.pt"))
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


def test_13_pairs_patches_and_mel_frames_are_those_of_the_mask_the_image_and_the_lab(demo: Demo) -> None:
    from sklearn.datasets import load_digits

    assert demo("13_mask_gallery")("['full', 'causal'].map((kind) => demo.pairs(kind, 7, 5))") == [49, 28]
    ask, found = demo("13_vit_patches"), load_digits()
    image = np.array(ask("demo.image({digit: 4, ink: ''}, data)")).reshape(8, 8)
    assert np.array_equal(image * 16, found.images[found.target == 4][0])
    last = image.ravel()[ask("demo.patches(2)")[-1]]
    assert np.array_equal(last.reshape(2, 2), image[-2:, -2:])
    ask = demo("13_sound_to_mel")
    sound = np.array(ask("[...demo.sound('vowels')]"))
    wanted = solution("13_beyond")["mel_spectrogram"](sound, 8000, 256, 128, 20)
    assert np.array(ask("demo.mels('vowels', 256, 20)")) == approx(wanted, abs=1e-6)
