"""Demos drawn in the browser: every scene on every screen, light and dark, by keys and by hand; numbers as in Python."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coursekit.demos import __main__ as command
from coursekit.demos import bundle, exported
from playwright.sync_api import Browser, Page

from tests.demos.stage import EACH_KIND, MOVE, SCREENS, address, faults, opened

NAMES = bundle.names()
AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe.min.js"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    bundle.write(folder)
    return folder


@pytest.fixture(scope="module")
def said(browser: Browser, pages: Path) -> Iterator[Any]:
    """``said(NAME, expression)``: what an expression is worth on the demo's page; ``demo`` and ``data`` are its own."""
    shown: dict[str, Page] = {}

    def ask(name: str, expression: str, value: Any = None) -> Any:
        if name not in shown:
            shown[name] = browser.new_page()
            shown[name].goto(address(pages, name))
            shown[name].wait_for_selector("svg.cd-picture g *", state="attached")
        look = "const {demo, stage, modules} = course, data = stage.data;"
        return shown[name].evaluate(f"(value) => {{ {look} return {expression}; }}", value)

    yield ask
    for page in shown.values():
        page.close()


def finding(page: Page) -> str:
    return page.locator(".cd-finding").inner_text()


def scenes(page: Page) -> int:
    return int(page.evaluate("course.demo.scenes.length"))


# --- looks --------------------------------------------------------------------------------------------------------


def look_at_every_scene(page: Page, *, twice: bool) -> None:
    """Light, then dark, where the text is wider, too; or, not ``twice``, by turns."""
    for i in range(scenes(page)):
        if i:
            page.keyboard.press("ArrowRight")
        for dark in (False, True) if twice else (i % 2 == 1,):
            page.evaluate("dark => document.querySelector('.cd').classList.toggle('dark', dark)", dark)
            assert faults(page, wider=dark) == [], f"scene {i + 1}, {'dark, wider' if dark else 'light'}"


@pytest.mark.parametrize("name", NAMES)
def test_every_scene_fits_a_lecture_hall_and_a_hand_can_move_it(
    browser: Browser, pages: Path, name: str
) -> None:
    """On the other screens one look at the last scene, as the page is resized."""
    with opened(browser, address(pages, name), "hall") as page:
        look_at_every_scene(page, twice=False)
        for screen in ("phone", "old", "hall"):
            page.set_viewport_size({"width": SCREENS[screen][0], "height": SCREENS[screen][1]})
            assert faults(page, wider=True) == [], screen
        for i in reversed(range(scenes(page))):
            assert page.locator("svg.cd-picture .touch:visible").count(), f"nothing in scene {i + 1} moves"
            page.evaluate(
                "window.moved = new Set(); course.stage.options.changed = (s) => moved.add(JSON.stringify(s)); null"
            )
            page.evaluate(MOVE, 4)
            pressed = page.locator("svg.cd-picture [role=button]:visible")
            if pressed.count():
                pressed.last.focus()
                page.keyboard.press("Enter")
            assert page.evaluate("moved.size") > 0, f"scene {i + 1}"
            page.keyboard.press("PageUp")


@pytest.mark.proof  # a scene is laid out once for all screens: what fits the hall, and others resized, seldom fails here alone
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", NAMES)
def test_every_scene_fits_every_screen(browser: Browser, pages: Path, name: str, screen: str) -> None:
    with opened(browser, address(pages, name), screen) as page:
        look_at_every_scene(page, twice=True)


@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.proof)])
@pytest.mark.parametrize("name", EACH_KIND)
def test_axe_has_no_serious_finding(browser: Browser, pages: Path, name: str, dark: bool) -> None:
    with opened(browser, address(pages, name), dark=dark) as page:
        page.evaluate(AXE.read_text(encoding="utf-8"))
        for _ in range(scenes(page)):
            found = page.evaluate("axe.run().then((run) => run.violations)")
            serious = [one for one in found if one["impact"] in ("serious", "critical")]
            assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in serious] == []
            page.keyboard.press("PageDown")


def test_a_text_that_is_wider_than_its_room_is_squeezed_into_it(browser: Browser, pages: Path) -> None:
    with opened(browser, address(pages, "07_mask_painter", "scene=1&row=5"), "old") as page:
        name = page.get_by_role("button", name="listener gegessen")  # the longest name, and bold
        for wider in (False, True):
            assert faults(page, wider=wider) == []
            assert name.get_attribute("textLength") == "96"
        page.evaluate("course.stage.set({row: 0})")
        assert faults(page) == [] and name.get_attribute("textLength") is None


# --- keys, hands, addresses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EACH_KIND)
def test_keys_walk_scenes_ask_turn_and_play(browser: Browser, pages: Path, name: str) -> None:
    with opened(browser, address(pages, name), calm=False) as page:
        count, current = scenes(page), page.locator(".cd-scenes [aria-current]")
        seen = {finding(page)}
        for key in ["ArrowRight"] * count:
            page.keyboard.press(key)
            seen.add(finding(page))
        assert (current.inner_text() or "").startswith(str(count)), "the last scene stays"
        assert len(seen) > count / 2
        page.keyboard.press("PageUp")
        assert (current.inner_text() or "").startswith(str(count - 1))
        meta = bundle.meta(name)
        told = page.locator(".cd-ask p")
        for question, answer, about in meta["questions"]:
            if count - 1 in about:
                page.keyboard.press("q")
                assert told.inner_text() == question
                page.keyboard.press("q")
                assert told.inner_text() == answer
        page.keyboard.press("Space")
        assert (current.inner_text() or "").startswith(str(count)), "space goes on"
        assert told.inner_text() == meta["look"], "what is answered is over in the next scene"
        for key in "dh":
            page.keyboard.press(key)
        assert {"dark", "bare"} <= set((page.locator(".cd").get_attribute("class") or "").split())
        assert not page.locator(".cd-controls").is_visible() and page.locator(".cd-finding").is_visible()
        page.keyboard.press("h")
        if page.evaluate("course.demo.controls.some((c) => c.kind === 'steps')"):
            before = page.evaluate("JSON.stringify(course.stage.state)")
            page.keyboard.press("p")
            page.wait_for_function("before => JSON.stringify(course.stage.state) !== before", arg=before)


@pytest.mark.parametrize("name", EACH_KIND)
def test_the_address_says_what_is_shown(browser: Browser, pages: Path, name: str) -> None:
    with opened(browser, address(pages, name)) as page:
        page.keyboard.press("PageDown")
        page.evaluate(MOVE, 4)
        page.wait_for_function(
            "location.hash.slice(1) === course.modules['frame.js'].toHash(course.demo, course.stage.state)"
        )
        shown, where = page.evaluate("[JSON.stringify(course.stage.state), location.hash.slice(1)]")
    with opened(browser, address(pages, name, where)) as page:
        assert json.loads(page.evaluate("JSON.stringify(course.stage.state)")) == json.loads(shown)
    with opened(browser, address(pages, name, "scene=99&" + "&".join(f"{c}=%00x" for c in "abc"))) as page:
        assert page.evaluate("course.stage.state.scene") == scenes(page) - 1, (
            "nonsense opens a scene all the same"
        )


@pytest.mark.parametrize(
    ("name", "counted"),
    [("10_skips_and_warmup", r"step (\d+)"), ("12_inside", r"Token (\d+)"), ("11_sampling", r"(all) ")],
)
def test_a_control_and_the_sentence_above_say_the_same_number(
    browser: Browser, pages: Path, name: str, counted: str
) -> None:
    with opened(browser, address(pages, name)) as page:
        said = re.search(counted, page.locator(".cd-note").inner_text())
        shown = [output.inner_text() for output in page.locator(".cd-control output:visible").all()]
        assert said and said[1] in shown


def test_07_the_frame_in_the_map_holds_the_weights_of_the_boxes(browser: Browser, pages: Path) -> None:
    with opened(browser, address(pages, "07_kernel_to_attention", "scene=1&query=4.3")) as page:
        framed = page.evaluate(
            "[...document.querySelectorAll('.own rect')].slice(1).map((r) => Number(r.getAttribute('fill-opacity')))"
        )
        row = page.evaluate("course.demo.weights(4.3, course.stage.state.sigma, 'distance')")
        assert framed == pytest.approx(row, abs=0.001)
        frame, own = (page.locator(mark).bounding_box() for mark in (".mark rect", ".own rect >> nth=0"))
        assert frame and own
        assert 0 <= own["y"] - frame["y"] < 5 and 0 <= frame["height"] - own["height"] < 8


def test_a_picture_is_drawn_at_once_where_motion_is_unwanted(browser: Browser, pages: Path) -> None:
    place = address(pages, "07_kernel_to_attention", "scene=2")
    with opened(browser, place) as page:
        page.evaluate("course.stage.go(2)")
        assert page.evaluate("document.querySelectorAll('[style*=opacity]').length") == 0
    with opened(browser, place, calm=False) as page:
        # in one go, before there can be a next frame
        look = "document.querySelector('.dot circle').getAttribute('r')"
        assert page.evaluate(f"(course.stage.go(2), Math.abs({look} - 8) > 0)"), "with motion the dots glide"


def test_q_has_a_question_for_every_scene(said: Any) -> None:
    for name in NAMES:
        about = {scene for _, _, scenes in bundle.meta(name)["questions"] for scene in scenes}
        assert about == set(range(1, said(name, "demo.scenes.length") + 1)), name


# --- files --------------------------------------------------------------------------------------------------------


def test_modules_in_a_bundle_export_what_they_declare() -> None:
    text = bundle.script("frame.js")
    order = [text.index(f'modules["{file}"] = ') for file in ("vendor/d3.min.js", "numbers.js", "frame.js")]
    assert order == sorted(order)
    assert "\nexport " not in text and "\nimport " not in text


def test_a_page_asks_for_nothing_and_cannot_be_ended_by_its_own_text(pages: Path) -> None:
    for name in NAMES:
        text = (pages / f"{name}.html").read_text(encoding="utf-8")
        assert text.count("</script>") == 2
        assert "src=" not in text.split("<script")[0] and len(text) < 12_000_000


def test_vendored_files_are_as_they_were_published() -> None:
    for folder in (bundle.WEB / "vendor", AXE.parent):
        for line in (folder / "SHA256SUMS").read_text().splitlines():
            digest, name = line.split()
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
            assert (folder / f"{re.split('[.-]', name)[0]}.LICENSE").is_file()


@pytest.mark.parametrize(
    "name", [name for name in exported.EXPORTS if name not in exported.RECORDED | exported.MODELS]
)
def test_exported_data_are_what_python_says_today(name: str) -> None:
    assert bundle.data(name) == exported.text(name).strip(), "run python -m coursekit.demos export"


def test_the_command_writes_pages_and_says_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["pages", "02_dirichlet", "--out", str(tmp_path)]) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["02_dirichlet.html"]
    assert command.main(["pages", "02_nothing", "--out", str(tmp_path)]) == 2
    assert "There is no such demo: 02_nothing." in capsys.readouterr().err


# --- numbers: what a module works out, beside NumPy -----------------------------------------------------------------


def test_the_shared_mathematics_is_numpys(said: Any) -> None:
    from math import lgamma

    name = NAMES[0]
    assert said(name, "modules['numbers.js'].softmax([1, -2, 3.5, -Infinity])") == pytest.approx(
        np.exp([1, -2, 3.5, -np.inf]) / np.exp([1, -2, 3.5, -np.inf]).sum(), abs=1e-12
    )
    for x in (0.1, 0.5, 1, 3.7, 80):
        assert said(name, "modules['numbers.js'].lnGamma(value)", x) == pytest.approx(lgamma(x), abs=1e-10)
    drawn = said(
        name,
        "(() => { const rng = modules['numbers.js'].random(3), n = [0, 0, 0];"
        "for (let i = 0; i < 30000; i++) n[modules['numbers.js'].draw(rng, [.5, .2, .3])]++; return n })()",
    )
    assert np.array(drawn) / 30000 == pytest.approx([0.5, 0.2, 0.3], abs=0.01)


def test_01_the_chain_is_lab_01s_and_tosses_a_coin_at_ran(said: Any) -> None:
    from coursekit.data.names import names
    from coursekit.provided.p01_markov_bigram import average_nll, bigram_counts, normalise_rows

    name = "01_markov_graph"
    counts = bigram_counts(names())
    assert np.array_equal(said(name, "data.one"), counts)
    rows = np.array(said(name, "data.one.map((row, b) => demo.nextLetters(data, 1, 0, b))")[:27])
    assert rows == pytest.approx(normalise_rows(counts)[:27], abs=1e-12)
    assert said(name, "data.surprise[1]") == pytest.approx(
        average_nll(normalise_rows(counts), names()), abs=1e-9
    )
    assert said(name, "data.surprise[2]") < said(name, "data.surprise[1]")
    assert dict(said(name, "demo.nextWords(['ran'])")) == pytest.approx({"down": 0.4, "please": 0.6})
    assert said(name, "demo.nextWords(['battery', 'ran'])") == [["down", 1]]


def test_02_beliefs_are_the_dirichlets(said: Any) -> None:
    from coursekit.figures.dirichlet import dirichlet_log_density

    name, counts, alpha = "02_dirichlet", np.array([4.0, 2.0, 0.0]), 1.5
    middles = np.array(said(name, "demo.MIDDLES"))  # small triangles of one size
    assert middles.shape == (26**2, 3) and middles.sum(axis=1) == pytest.approx(1)
    density = np.array(said(name, "demo.MIDDLES.map((p) => demo.logDensity(p, [5.5, 3.5, 1.5]))"))
    assert density == pytest.approx(dirichlet_log_density(middles, [5.5, 3.5, 1.5]), abs=1e-9)
    by_sum = (np.exp(density)[:, None] * middles).sum(axis=0) / np.exp(density).sum()
    assert said(name, "demo.believed(...value)", [counts.tolist(), alpha]) == pytest.approx(by_sum, abs=2e-3)
    title = said(name, "demo.say({thing: 'die', seen: 6, alpha: 1, seed: 1, said: '001001'}, data).title")
    assert title == "C never came in 6 throws, and still gets 11.1%"  # (0 + 1) / (6 + 3)


def test_07_weights_are_a_kernel_and_a_softmax_at_once(said: Any) -> None:
    name, places = "07_kernel_to_attention", np.arange(11.0)
    for sigma in (0.1, 0.6, 20.0):
        for query in (0.0, 3.3, 8.1):
            kernel = np.exp(-((query - places) ** 2) / (2 * sigma**2))
            row = said(name, "demo.weights(...value, 'distance')", [query, sigma])
            assert row == pytest.approx(kernel / kernel.sum(), abs=1e-9)
            # arrows of one length: the kernel of their distance is the softmax of their dot products
            arrow, keys = (
                np.array(said(name, "value.map(demo.arrow)", v)) for v in ([query], places.tolist())
            )
            kernel = np.exp(-((arrow - keys) ** 2).sum(axis=-1) / (2 * sigma**2))
            row = said(name, "demo.weights(...value, 'product')", [query, sigma])
            assert row == pytest.approx(kernel / kernel.sum(), abs=1e-9)
    note = said(name, "demo.say({sigma: .1, query: 4.2, score: 'distance', heights: ''}, data).note")
    assert f"= {said(name, 'data.heights[4]'):.2f}".replace("-", "−") in note


def test_03_the_votes_are_five_to_four_and_the_mask_decides(said: Any) -> None:
    name = "03_votes_and_mask"
    every, knows, half = [1] * 9, [0, 0, 1, *[0] * 6], [0.3, 0.3, 1, *[0.3] * 6]
    assert said(name, "demo.totals(...value)", ["program", every]) == [4, 5]
    assert said(name, "demo.totals(...value)", ["battery", every]) == [5, 4]
    assert said(name, "demo.totals(...value)", ["battery", knows]) == [1, 0]
    votes = np.array(said(name, "demo.votes('battery')"))
    shaken = votes + np.random.default_rng(0).normal(0, 0.4, (100_000, 9, 2))
    wrong = np.mean(np.diff((np.array(half)[:, None] * shaken).sum(axis=1)) > 0)
    assert said(name, "demo.lead('battery', value, 0.4).wrong", half) == pytest.approx(wrong, abs=0.006)
    from math import erf

    for x in (-2.5, -0.3, 0.0, 1.0, 4.0):
        assert said(name, "demo.erf(value)", x) == pytest.approx(erf(x), abs=1e-9)


def test_04_merges_are_those_of_lab_04s_tokenizer(said: Any) -> None:
    from coursekit.provided.p04_tokenizer import train_bpe

    name = "04_merge_stepper"
    for text in ("rhyme", "letters", "motto"):
        words = [word for line in said(name, "demo.chunks(value)", text) for word in line]
        learned = train_bpe({tuple(word.encode()): words.count(word) for word in words}, 50)
        spelling = {byte: chr(byte) for byte in range(256)}
        pairs = []
        for (left, right), new in learned.items():
            pairs.append([spelling[left], spelling[right]])
            spelling[new] = spelling[left] + spelling[right]
        assert said(name, "demo.history(value).slice(1).map((s) => s.pair)", text) == pairs
    assert [said(name, f"demo.history('rhyme')[{i}].often") for i in (1, 2)] == [13, 12]
    assert said(name, "demo.history('letters')[3].spelled.get('aaabdaaabac')") == [
        "aaab",
        "d",
        "aaab",
        "a",
        "c",
    ]
    assert said(name, "demo.cut('rhyme', 50, 'seashore')")[:2] == ["se", "a"]
    assert said(name, "demo.history('rhyme')[50].types") == 18


def test_06_hands_show_the_labs_table_and_likeness_depends_on_distance_only(said: Any) -> None:
    from coursekit.provided.p06_positions import sinusoidal

    table = np.array(said("06_clock_hands", "Array.from({length: 49}, (_, t) => demo.row(t, 100))"))
    assert table == pytest.approx(sinusoidal(49, 8, 100.0), abs=1e-6)
    likeness = table @ table.T
    assert np.diag(likeness, 5) == pytest.approx(likeness[0, 5])


def test_07_painted_rows_add_up_to_one_and_closed_weights_are_zero(said: Any) -> None:
    name = "07_mask_painter"
    queries, keys = np.random.default_rng(4).normal(size=(2, 7, 16)).round(5)
    for which in ("ALL", "CAUSAL", "PADDED"):
        mask = np.array([c == "1" for c in said(name, f"demo.{which}")]).reshape(7, 7)
        powers = np.where(mask, np.exp(queries @ keys.T / 4), 0)
        heard = np.array(said(name, f"demo.weights({{mask: demo.{which}, scale: 4}}, data).heard"))
        assert heard == pytest.approx(powers / powers.sum(axis=1, keepdims=True), abs=1e-9)
    titles = {
        "CAUSAL": "The future is closed: 21 scores are −∞, 21 weights are 0",
        "STRICT": "“<sos>” may hear nobody: 0/0, the softmax has no answer",
        "PADDED": "7 scores are −∞: in these rows the others share the weight",
    }
    for which, title in titles.items():
        assert said(name, f"demo.say({{mask: demo.{which}, scale: 4, row: 4}}, data).title") == title
    more = "demo.CAUSAL.slice(0, 42) + '0111111'"  # the last row may not hear the first token: not the future
    assert said(name, f"demo.say({{mask: {more}, scale: 4, row: 4}}, data).title") == (
        "The future and 1 more are closed: 22 weights are 0"
    )


def test_07_a_brush_paints_over_cells(browser: Browser, pages: Path) -> None:
    with opened(browser, address(pages, "07_mask_painter", "scene=1")) as page:
        cells = page.locator(".scores .cells rect")
        first, last = cells.nth(0).bounding_box(), cells.nth(2).bounding_box()
        assert first and last
        page.mouse.move(first["x"] + 9, first["y"] + 9)
        page.mouse.down()
        page.mouse.move(last["x"] + 9, last["y"] + 9, steps=12)
        page.mouse.up()
        assert page.evaluate("course.stage.state.mask").startswith("0001111")
        cells.nth(0).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowDown")
        page.keyboard.press(" ")
        assert page.evaluate("course.stage.state.mask").startswith("10011110111111")


def test_11_the_knobs_do_what_the_lab_does(said: Any) -> None:
    from coursekit.provided import p11_decoding as lab

    name = "11_sampling"
    p = np.array(said(name, "demo.starting('a', data).p"))

    def knobs(*values: float) -> Any:
        return said(name, "demo.chosen(demo.starting('a', data).p, ...value)", values)

    assert knobs(0.7, 28, 1.0) == pytest.approx(lab.temperature_probs(np.log(p), 0.7), abs=1e-6)
    assert knobs(1.0, 4, 1.0) == pytest.approx(lab.top_k(np.log(p), 4), abs=1e-6)
    assert knobs(1.0, 28, 0.6) == pytest.approx(lab.top_p(np.log(p), 0.6), abs=1e-6)
    assert said(name, "demo.chosen([.5, .3, .2], 1, 3, 1)") == pytest.approx([0.5, 0.3, 0.2])
    assert np.exp([0.5, 0.3, 0.2]) / np.exp([0.5, 0.3, 0.2]).sum() == pytest.approx(
        [0.391, 0.320, 0.289], abs=1e-3
    )


def test_11_the_beams_have_the_lectures_sums(said: Any) -> None:
    name = "11_beam_tree"
    last = "(([, r]) => [[...r.candidates.values()], [...r.kept.keys()]])(demo.search(demo.TREES[value[0]], value[1]))"
    sums, kept = said(name, last, ["sums", 2])
    assert sorted(round(value, 1) for value in sums) == [-3.9, -2.3, -2.1, -1.6]
    assert set(kept) == {"The cat", "The dog"}
    best = [max(np.exp(said(name, last, ["trap", k])[0])) for k in (1, 2, 3)]
    assert best == pytest.approx([0.20, 0.28, 0.28])


def test_13_pairs_are_those_of_the_mask(said: Any) -> None:
    name = "13_mask_gallery"
    for kind in ("full", "causal", "local", "dilated", "global"):
        for T, width in ((6, 1), (7, 5), (24, 3)):
            counted = said(
                name,
                "Array.from({length: value[1] ** 2}, (_, n) => demo.allows(value[0], value[2], Math.floor(n / value[1]),"
                " n % value[1])).filter(Boolean).length",
                [kind, T, width],
            )
            assert said(name, "demo.pairs(...value)", [kind, T, width]) == counted
    assert said(name, "demo.pairs('causal', 7, 1)") == 49 - 21
    reach = [said(name, "demo.reach(value, 16, 2)", kind) for kind in ("local", "global", "dilated")]
    assert reach == [
        8,
        1,
        None,
    ]  # fifteen steps, two a layer; at once; an even number of steps never makes fifteen


def test_05_the_recording_begins_with_knowing_nothing_and_ends_with_neighbours(said: Any) -> None:
    from coursekit.demos.recordings import word_map

    record = json.loads(bundle.data("05_word_map"))
    assert [one["word"] for one in said("05_word_map", "data.words")] == word_map.words()
    assert record["loss"][0] == pytest.approx(6 * np.log(2), abs=1e-3)
    assert np.diff(record["loss"]).max() < 0.02  # it falls, but for the noise of the batches
    assert np.array(record["places"]).shape == (word_map.SNAPSHOTS + 1, len(word_map.words()), 2)
    months = record["groups"]["months"]
    assert all(name in months for name, _ in record["near"]["january"][-1])
    assert not any(name in months for name, _ in record["near"]["january"][0])
    inside, outside = np.array(record["alike"]).T
    assert abs(inside[0] - outside[0]) < 0.05 < 0.4 < inside[-1] - outside[-1]
    title = said("05_word_map", "demo.say({step: 24, word: 'january'}, data).title")
    assert f"cosine {inside[-1]:.2f} within a group" in title


def test_08_the_recorded_heads_are_the_trained_encoders(said: Any) -> None:
    from coursekit.provided.p12_translator import Transformer
    from coursekit.translator.attention_map import self_attention_from
    from coursekit.translator.word_model import load

    model, english, _ = load(Transformer)
    for end, whom in (("tired", "animal"), ("wide", "street")):
        words = said("08_head_grid", "data[value].words", end)
        maps = np.array(
            [said("08_head_grid", "demo.mapOf(data, value)", {"end": end, "head": h}) for h in range(8)]
        )
        assert maps.shape == (8, 13, 13) and maps.sum(axis=-1) == pytest.approx(1, abs=0.01)
        loudest = self_attention_from(model, [english.numbers[word] for word in words], words.index("it"))
        by_layer = maps.reshape(2, 4, 13, 13)[:, :, words.index("it")].max(axis=1)
        assert by_layer == pytest.approx(loudest.numpy(), abs=2e-3)
        title = said("08_head_grid", "demo.say(value, data).title", {"end": end, "head": 4, "listener": 8})
        assert f"hears “{whom}” most" in title


def test_09_the_shapes_are_those_of_the_labs_blocks(said: Any) -> None:
    import torch
    from coursekit.figures.block_shapes import stations
    from coursekit.provided.p08_multi_head import attention_maps
    from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock

    for T, D, h in ((5, 32, 4), (10, 8, 8), (2, 64, 1)):
        walks = {}
        for block in ("encoder", "decoder"):
            sizes = {"block": block, "T": T, "D": D, "heads": h}
            walks[block] = {stop["name"]: stop for stop in said("09_block_shapes", "demo.walk(value)", sizes)}
        x, memory = torch.zeros(2, T, D), torch.zeros(2, 6, D)
        encoder, decoder = EncoderBlock(D, h, 4 * D), DecoderBlock(D, h, 4 * D)
        names = {"x": "input x", "queries": "self: Q, K, V", "weights": "self: weights", "heard": "self: W_O"}
        names |= {"linear1, ReLU": "linear1, ReLU", "linear2": "linear2", "norm2": "add & norm"}
        measured = stations(encoder, x)
        for ours, theirs in names.items():
            assert list(measured[ours]) == walks["encoder"][theirs]["shape"]
        maps = attention_maps(decoder, x, memory)
        assert list(maps["self_attention"].shape) == walks["decoder"]["self: weights"]["shape"]
        assert list(maps["cross_attention"].shape) == walks["decoder"]["cross: weights"]["shape"]
        for block, stops in ((encoder, walks["encoder"]), (decoder, walks["decoder"])):
            assert sum(p.numel() for p in block.parameters()) == sum(
                stop["weights"] for stop in stops.values()
            )


def test_10_the_recorded_runs_begin_at_chance_and_have_the_labs_rate(said: Any) -> None:
    from coursekit.models.reversing import V
    from coursekit.provided.p10_training import noam_rate

    name = "10_skips_and_warmup"
    for step in (1, 50, 100, 250):
        assert said(name, "demo.rate(...value)", [step, 1, 1]) == pytest.approx(noam_rate(step, 512, 100))
    assert said(name, "demo.rate(1, 0, 3)") == pytest.approx(3 * noam_rate(100, 512, 100))
    record = json.loads(bundle.data(name))
    for run in record.values():
        assert np.array(run["gradient"]).shape == (40, 4)
        assert run["loss"][0] == pytest.approx(np.log(V), abs=0.3)
    learned = {called for called, run in record.items() if run["loss"][-1] < 0.5}
    assert learned == {"skips, warm-up, 1", "skips, no warm-up, 1", "skips, warm-up, 3"}
    assert [said(name, "demo.power(value)", v) for v in (0.013, 3e-8, 1.2e-11)] == [
        "0.013",
        "3·10⁻⁸",
        "1·10⁻¹¹",
    ]
    bare = said(name, "demo.say({skips: 0, warm: 1, factor: 1, time: 39}, data).title")
    assert bare.startswith("No skips, warm-up: it hardly learns")


def test_12_the_model_in_the_browser_is_pytorchs(said: Any) -> None:
    import torch
    from coursekit.data import parallel
    from coursekit.data.vocabulary import BOS
    from coursekit.provided.p12_translator import Transformer, translate
    from coursekit.translator.attention_map import alignment
    from coursekit.translator.word_model import load

    name = "12_translator"
    model, english, german = load(Transformer)
    pairs = parallel.load("test_coreference")[::40][:4]
    for sentence, right in [*pairs, ("Yesterday the man gave the child a book.", None)]:
        words = parallel.tokenize(sentence)
        assert said(name, "demo.tokenize(value)", sentence) == words
        source = english.encode(sentence)
        spoken = translate(model, source, max_length=15)
        state = {"sentence": sentence, "prefix": ""}
        steps = said(name, "demo.told(value, data).steps", state)
        if len(words) <= 14:
            assert [step["word"] for step in steps][: len(spoken)] == spoken
            with torch.no_grad():
                p = model(torch.tensor([source]), torch.tensor([[BOS, *spoken]]))[0].double().softmax(dim=-1)
            ours = np.array([step["p"] for step in steps])
            assert ours == pytest.approx(p.numpy()[: len(ours)], abs=1e-4)
            heard = np.array([step["heard"] for step in steps])
            assert heard == pytest.approx(alignment(model, source, spoken).numpy()[: len(heard)], abs=1e-4)
            assert said(
                name, "demo.detokenize(value)", [german.words[n] for n in spoken]
            ) == parallel.detokenize([german.words[n] for n in spoken])
            if right:
                assert parallel.detokenize([german.words[n] for n in spoken]) == right


def test_12_typing_waits_for_a_pause_and_a_wrong_language_is_said(browser: Browser, pages: Path) -> None:
    with opened(browser, address(pages, "12_translator")) as page:
        field = page.get_by_label("English")
        field.fill("The animal did not cross the street because it was too wide.")
        page.wait_for_function("document.querySelector('.cd-finding').textContent.includes('“sie”')")
        page.evaluate("window.drawn = 0; course.stage.options.changed = () => drawn++; null")
        typed = "(field) => { for (const key of ' I read the book') { field.value += key; field.dispatchEvent(new Event('input')) } }"
        field.evaluate(typed)  # quicker than any hand, so that no pause of a busy machine comes between
        page.wait_for_function("drawn > 0")
        page.wait_for_timeout(400)  # whatever else was to come
        assert "I read the book" in page.evaluate("JSON.stringify(course.stage.state)")
        assert page.evaluate("drawn") == 1, "a translation when one pauses, not at each of sixteen keys"
        field.fill("Wo steht denn mein rotes Fahrrad heute")
        page.wait_for_function(
            "document.querySelector('.cd-finding').textContent.includes('is this English?')"
        )


def test_13_patches_are_scikit_learns_digits_and_a_shuffle_loses_none(said: Any) -> None:
    from sklearn.datasets import load_digits

    name, found = "13_vit_patches", load_digits()
    for number in (0, 4, 9):
        image = np.array(said(name, "demo.image({digit: value, ink: ''}, data)", number)).reshape(8, 8)
        assert np.array_equal(image * 16, found.images[found.target == number][0])
        for p in (1, 2, 4, 8):
            cut = [image.ravel()[places] for places in said(name, "demo.patches(value)", p)]
            assert np.array_equal(cut[-1].reshape(p, p), image[-p:, -p:]) and len(cut) == (8 // p) ** 2
            for seed in (3, 4):
                state = {"p": p, "order": "shuffled", "seed": seed, "swaps": ""}
                read = said(name, "demo.order(value)", state)
                assert sorted(read) == list(range(len(cut)))
                assert read != sorted(read) or p == 8
    assert said(name, "demo.order({p: 2, order: 'kept', seed: 1, swaps: '0-15,3-4'})")[:5] == [15, 1, 2, 4, 3]


def test_13_mel_frames_are_those_of_the_labs_filters(said: Any) -> None:
    from autograder.course.masters import solution_source

    lab: dict[str, Any] = {"np": np, "mel_filters": _mel_filters}
    exec(solution_source("13_beyond", "mel_spectrogram"), lab)
    name = "13_sound_to_mel"
    for which in ("octaves", "vowels", "tone", "hum"):
        signal = np.array(said(name, "[...demo.sound(value)]", which))
        for frame, bands in ((256, 20), (512, 40)):
            expected = lab["mel_spectrogram"](signal, 8000, frame, frame // 2, bands)
            assert np.array(said(name, "demo.mels(...value)", [which, frame, bands])) == pytest.approx(
                expected, abs=1e-6
            )
    power = np.array(said(name, "demo.powers('tone', 512)"))
    assert np.abs(power.argmax(axis=1) * 8000 / 512 - 440).max() <= 8000 / 512


def _mel_filters(n_mels: int, frame: int, rate: int) -> Any:
    """Triangles between corners that are evenly spaced in mel, each written out by its two sides."""
    highest = 2595 * np.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (np.linspace(0, highest, n_mels + 2) / 2595) - 1)
    rows = np.zeros((n_mels, frame // 2 + 1))
    for k in range(n_mels):
        low, centre, high = corners[k : k + 3]
        for i in range(frame // 2 + 1):
            f = i * rate / frame
            rows[k, i] = max(0.0, min((f - low) / (centre - low), (high - f) / (high - centre)))
    return rows


def test_13_the_sound_is_heard_and_the_frame_follows_it(browser: Browser, pages: Path) -> None:
    with opened(browser, address(pages, "13_sound_to_mel", "scene=1&moment=0")) as page:
        page.get_by_role("button", name="hear the sound").click()
        page.wait_for_function("course.stage.state.moment > 5")


def test_12_everyday_sentences_are_translated_both_ways_as_the_command_line_does(said: Any) -> None:
    from coursekit.data import path
    from coursekit.translator.attention_map import alignment
    from coursekit.translator.translator import Translator

    name, machine = "12_everyday", Translator.load(path("tatoeba/translator.pt"))
    for sentence, to in (
        ("Where did you learn German?", "de"),
        ("Ich habe das Buch gestern gelesen.", "en"),
        ("It's 5 o'clock, isn't it?", "de"),
        ("Der Bahnhofsvorsteher lacht über den Käse.", "en"),
    ):
        source = machine.sources([sentence], to)[0]
        assert said(name, "data.subwords.encode(value)", sentence) == source[1:]
        wanted = machine.translate([sentence], to, beam=5)[0]
        found = said(name, "demo.told(value, data).found", {"sentence": sentence, "to": to})
        assert [one["text"] for one in found] == [text for text, _ in wanted]
        assert [one["score"] for one in found] == pytest.approx([score for _, score in wanted], abs=1e-4)
        heard = alignment(machine.model, source, machine.subwords.encode([found[0]["text"]])[0])[:, 1:]
        assert np.array(found[0]["heard"]) == pytest.approx(heard.numpy(), abs=1e-4)
    for sentence, to, wrong in (("Was machst du morgen?", "de", True), ("What is it?", "de", False)):
        assert said(name, "modules['subwords.js'].looksWrong(...value)", [sentence, to]) is wrong


@contextmanager
def heads_off(model: Any, off: str) -> Iterator[None]:
    """The model with these heads silent: the columns of W_O that hear them are zero."""
    import torch

    parts = {
        "e": ("encoder", "attention"),
        "d": ("decoder", "self_attention"),
        "c": ("decoder", "cross_attention"),
    }
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad():
        for kind, layer, _, head in off.split():  # c1.0
            stack, part = parts[kind]
            weight = getattr(getattr(model, stack)[int(layer)], part).W_O.weight
            size = weight.shape[1] // 4
            weight[:, int(head) * size : (int(head) + 1) * size] = 0
    yield
    model.load_state_dict(before)


@pytest.mark.parametrize("off", ["", "c1.0", "e0.1 d1.3 c0.2"])
def test_12_inside_every_map_and_logit_is_pytorchs_also_with_heads_off(said: Any, off: str) -> None:
    import torch
    from coursekit.data import path
    from coursekit.provided.p08_multi_head import attention_maps
    from coursekit.translator.translator import Translator

    name, machine = "12_inside", Translator.load(path("tatoeba/translator.pt"))
    state = {"sentence": "I don't know what you want.", "to": "de", "prefix": "", "off": off}
    source, words = (
        torch.tensor(machine.sources([state["sentence"]], "de")),
        said(name, "demo.run(value, data).words", state),
    )
    with heads_off(machine.model, off), torch.no_grad():
        target = torch.tensor([[1, *words[:-1]]])
        logits, maps = (
            machine.model(source, target)[0],
            list(attention_maps(machine.model, source, target).values()),
        )
    ours = np.array(said(name, "demo.run(value, data).steps.map((one) => [...one.logits])", state))
    assert np.abs(ours - logits.numpy()).max() < 1e-4 and logits.argmax(dim=-1).tolist() == words
    places = ["e0", "e1", "d0", "c0", "d1", "c1"]  # as they follow each other in the model
    assert len(maps) == len(places)
    for place, heads in zip(places, maps, strict=True):
        for head in range(4):
            rows = said(
                name, "demo.headOf(value[0], demo.run(value[1], data)).map", [f"{place}.{head}", state]
            )
            for row, wanted in zip(rows, heads[0, head].tolist(), strict=True):
                assert row == pytest.approx(wanted[: len(row)], abs=1e-4), f"{place}.{head}"
                assert not any(wanted[len(row) :])


def test_12_inside_one_number_is_a_query_times_a_key_and_one_head_alone_holds_the_not(said: Any) -> None:
    import torch
    from coursekit.data import path
    from coursekit.translator.translator import Translator

    name, machine = "12_inside", Translator.load(path("tatoeba/translator.pt"))
    state = {
        "sentence": "I don't know what you want.",
        "to": "de",
        "prefix": "",
        "off": "",
        "at": "e1.2",
        "row": 3,
        "col": 5,
    }
    number = said(name, "demo.numberOf(value, demo.run(value, data))", state)
    kept: dict[str, Any] = {}
    attention = machine.model.encoder[1].attention
    for part in ("W_Q", "W_K"):
        getattr(attention, part).register_forward_hook(
            lambda _, __, out, part=part: kept.__setitem__(part, out[0, :, 96:144])
        )
    with torch.no_grad():
        machine.model(torch.tensor(machine.sources([state["sentence"]], "de")), torch.tensor([[1]]))
    assert number["query"] == pytest.approx(kept["W_Q"][3].tolist(), abs=1e-4)
    assert number["key"] == pytest.approx(kept["W_K"][5].tolist(), abs=1e-4)
    scores = kept["W_Q"][3] @ kept["W_K"].T / 48**0.5
    assert number["scores"] == pytest.approx(scores.tolist(), abs=1e-4)
    assert number["row"] == pytest.approx(scores.softmax(dim=0).tolist(), abs=1e-4)
    heads = [f"{kind}{layer}.{head}" for kind in "edc" for layer in (0, 1) for head in range(4)]
    told = {off: said(name, "demo.run(value, data).text", {**state, "off": off}) for off in ["", *heads]}
    assert {off: text for off, text in told.items() if text != told[""]} == {
        "c1.0": "Ich weiß, was du willst."
    }


def test_12_inside_a_wrong_language_is_said_a_rare_word_marked_and_words_swapped(
    browser: Browser, pages: Path
) -> None:
    with opened(browser, address(pages, "12_inside")) as page:
        field = page.get_by_role("textbox", name="say")
        field.fill("Was machst du morgen?")
        page.wait_for_function(
            "document.querySelector('.cd-finding').textContent.includes('looks like German already')"
        )
        field.fill("The stationmaster laughs.")
        page.wait_for_function(
            "document.querySelector('.cd-note').textContent.includes('a rare word, read in pieces')"
        )
        field.fill("dogs like cats")
        page.wait_for_function("document.querySelector('.cd-finding').textContent.includes('Katzen')")
        field.blur()
        page.get_by_role("button", name="swap the word of dogs with the next").press("Enter")
        page.wait_for_function("course.stage.state.sentence === 'like dogs cats'")
