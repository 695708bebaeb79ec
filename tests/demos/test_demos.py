"""Every lecture demo: pictures are well-formed, readable and move with their controls; notebooks run by themselves."""

from __future__ import annotations

import os
import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from coursekit.demos import notebooks
from coursekit.demos.frame import Demo, Slider
from coursekit.demos.svg import LONGEST_TITLE, SMALLEST_TYPE, Picture
from nbclient import NotebookClient

from autograder.course.masters import lab_as_written, lab_name
from autograder.course.visible_files import write_kit

NAMES = notebooks.drawn_in_python()
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=NAMES)
def demo(request: pytest.FixtureRequest) -> Demo:
    return notebooks.load(request.param)


def parts(svg: str, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter(SVG + tag))


def words(svg: str) -> str:
    """All that is written in a picture."""
    return "\n".join(text.text or "" for text in parts(svg, "text"))


def title(svg: str) -> str:
    return parts(svg, "title")[0].text or ""


def drawn(svg: str) -> str:
    """What is drawn, without the identifiers, which always differ."""
    return re.sub(r"d[0-9a-f]{10}-", "", svg)


def all_settings(demo: Demo) -> list[dict[str, Any]]:
    """Every scene, and from every scene each control moved through what is worth trying."""
    tried = [demo.settings(scene) for scene in demo.scenes]
    tried += [
        demo.settings(scene, **{control.name: value})
        for scene in demo.scenes
        for control in demo.controls
        for value in control.tries()
    ]
    return tried


def test_every_demo_of_the_course_is_there() -> None:
    assert {f"{lab:02d}" for lab in range(1, 14)} == {name[:2] for name in notebooks.names()}


def test_pictures_are_xml_with_a_finding_and_a_description_in_large_type(demo: Demo) -> None:
    for settings in all_settings(demo):
        svg = demo.picture(**settings)
        root = ET.fromstring(svg)
        heading, description = parts(svg, "title")[0], parts(svg, "desc")[0]
        assert root.get("aria-labelledby", "").split() == [heading.get("id"), description.get("id")]
        assert heading.text and len(heading.text) <= LONGEST_TITLE
        assert description.text and len(description.text) > 40, settings
        assert heading.text in words(svg)
        assert min(float(text.get("font-size", 0)) for text in parts(svg, "text")) >= SMALLEST_TYPE
        assert "nan" not in svg and "inf" not in svg.replace("information", ""), settings


def test_the_same_settings_give_the_same_picture(demo: Demo) -> None:
    settings = demo.settings()
    assert str(demo.draw(**settings)) == str(demo.draw(**settings))


def test_scenes_differ_and_findings_change(demo: Demo) -> None:
    pictures = [demo.picture(**demo.settings(scene)) for scene in demo.scenes]
    assert 3 <= len(pictures) <= 7
    assert len(set(map(drawn, pictures))) == len(pictures)
    assert len(set(map(title, pictures))) > len(pictures) / 2


def test_every_control_moves_the_picture(demo: Demo) -> None:
    for control in demo.controls:
        moved = [
            len({drawn(demo.picture(**demo.settings(scene, **{control.name: v}))) for v in control.tries()})
            for scene in demo.scenes
        ]
        assert max(moved) > 1, control.name


def test_scenes_set_only_controls(demo: Demo) -> None:
    known = {control.name for control in demo.controls}
    assert all(set(scene.settings) <= known for scene in demo.scenes)


def test_scenes_stand_where_sliders_stop(demo: Demo) -> None:
    for control in demo.controls:
        for scene in demo.scenes:
            value = demo.settings(scene)[control.name]
            if isinstance(control, Slider) and control.log:
                assert value in control.stops(), (scene.name, control.name)
            elif isinstance(control, Slider):
                steps = (value - control.low) / control.step
                assert control.low <= value <= control.high and abs(steps - round(steps)) < 1e-9


def test_widgets_follow_scenes_and_scenes_follow_widgets(demo: Demo) -> None:
    from coursekit.demos.widgets import Stage

    stage = Stage(demo)
    for scene in (*demo.scenes[1:], demo.scenes[0]):
        stage.go(scene)
        assert stage.settings == demo.settings(scene)
        assert drawn(stage.screen.value) == drawn(demo.picture(**demo.settings(scene)))
        pressed = [button.value for button in stage._scenes]
        assert pressed[demo.scenes.index(scene)]


def test_notebooks_are_as_their_modules_say() -> None:
    for name in notebooks.names():
        path = notebooks.FOLDER / f"{name}.ipynb"
        assert path.read_text(encoding="utf-8") == nbformat.writes(notebooks.notebook(name)) + "\n", (
            "run python -m coursekit.demos.notebooks"
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_without_student_code(name: str) -> None:
    book = nbformat.read(notebooks.FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(book)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    client = NotebookClient(book, timeout=60, resources={"metadata": {"path": str(notebooks.FOLDER)}})
    client.execute()
    outputs = book.cells[1].outputs
    assert [output.output_type for output in outputs] == ["execute_result"]
    assert "application/vnd.jupyter.widget-view+json" in outputs[0].data
    shown = [state.get("value") for state in client.widget_state.values()]
    assert any("<svg" in value for value in shown if isinstance(value, str))


def test_type_that_cannot_be_read_is_refused() -> None:
    picture = Picture("short", "a picture for this test")
    with pytest.raises(ValueError, match="last row"):
        picture.text(0, 0, "tiny", size=12)
    with pytest.raises(ValueError, match="characters"):
        Picture("x" * (LONGEST_TITLE + 1), "a picture for this test")


def test_a_mark_of_markup_in_a_label_stays_text() -> None:
    picture = Picture("a < b & c", 'says "a < b"')
    picture.text(0, 200, "<b>&amp;")
    assert "<b>&amp;" in words(str(picture))


def test_demos_are_left_out_of_what_students_get(tmp_path: Path) -> None:
    write_kit("13_beyond", tmp_path / "coursekit")
    assert (tmp_path / "coursekit" / "figures" / "style.py").is_file()
    assert not (tmp_path / "coursekit" / "demos").exists()


# --- one number a demo, worked out in another way ----------------------------------------------------------------


def test_12_everyday_sentences_are_translated_both_ways_as_the_command_line_does() -> None:
    from coursekit.data import path
    from coursekit.demos import d12_everyday as module
    from coursekit.translator.translator import Translator

    machine = Translator.load(path(module.MODEL))
    for sentence, to in (("Where did you learn German?", "de"), ("Ich habe das Buch gestern gelesen.", "en")):
        told = module.live(sentence, to)
        wanted = machine.translate([sentence], to, beam=module.SHOWN)[0]
        assert [one["text"] for one in told["found"]] == [text for text, _ in wanted]
        assert "".join(told["read"]).replace("▁", " ").strip() == sentence
        for one in told["found"]:
            heard = np.array(one["heard"])
            assert heard.shape == (len(one["tokens"]), len(told["read"]))
            assert (heard.sum(axis=1) <= 1 + 1e-6).all(), "the tag takes the rest"
    demo = notebooks.load("12_everyday")
    assert "“Sie” listens most to “you”" in title(demo.picture(**demo.settings(demo.scenes[1])))
    assert "listens most to" in title(
        demo.picture(sentence="<b>Hello &</b> there " * 30, step=17, choice="5")
    )


def test_the_reports_demos_and_questions_exist() -> None:
    named = tomllib.loads(
        (Path(notebooks.__file__).parents[2] / "demos" / "questions.toml").read_text(encoding="utf-8")
    )
    for number, by_question in named.items():
        questions = {name for name, _ in lab_as_written(lab_name(number)).questions}
        assert set(by_question) <= {*questions, "all"}
        assert set(by_question.values()) <= set(notebooks.names())
