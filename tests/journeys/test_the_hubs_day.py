"""A hub's day in Chromium, set up as docs/hub.md says: a teacher gives out, two students work and hand in, get graded,
and see their feedback. What they type, and what their cards say, is the students' day. After it they hold the live class of
docs/live_class.md on the same hub.

The machine is one of its own (``tests/fixtures/machine.py``): accounts and files are gone with it. It needs root, Node and
npm's configurable-http-proxy; without them these tests fail and say so, they are not skipped.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from autograder.course.masters import course_root
from autograder.course.policy_file import spec
from tests.fixtures import frozen_course
from tests.fixtures.frozen_course import freeze
from tests.fixtures.jupyterlab import PATIENCE_MS
from tests.fixtures.lab_page import card, menu, right, validated
from tests.fixtures.machine import Machine
from tests.fixtures.waiting import free_port, listens, until
from tests.install_programs import FOLDER, NEEDED, PROXY
from tests.journeys.test_the_students_day import LAB, QUESTIONS, SWAPPED
from tests.serve.test_live_class import notebook

pytestmark = pytest.mark.xdist_group("hubs_day")

PAGE, LIVE_PAGE = (
    (course_root() / "docs" / name).read_text(encoding="utf-8") for name in ("hub.md", "live_class.md")
)
#: The lab of the live class.
LIVE = frozen_course.LAB
STUDENTS = ("ada", "bo")


def steps(title: str) -> str:
    """The commands of the page's block that begins with this comment."""
    (block,) = re.findall(rf"^```sh\n# {re.escape(title)}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return block


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """The machine with the page's accounts, exchange and files; the course lies in the teacher's home alone."""
    assert PROXY.exists(), NEEDED
    folder = tmp_path_factory.mktemp("machine")
    # The environment with everything stands for both: the test would not install a second one.
    with closing(Machine(folder, [(Path(sys.prefix), "/opt/hub"), (FOLDER, "/opt/proxy")])) as here:
        here.sh(steps("accounts and exchange"))
        passwords = "\n".join(f"{name}:{name}s-password" for name in ("prof", *STUDENTS))
        here.sh(f"chpasswd <<< {shlex.quote(passwords)}")
        course = freeze(folder / "home" / "prof" / "course", LAB, LIVE)
        for place in ("notebooks/demos", "data/demos"):
            shutil.copytree(course_root() / place, course / place)
        for name in ("pyproject.toml", "requirements.lock"):
            shutil.copy(course_root() / name, course)
        here.sh(
            "cd /home/prof && mkdir our-course course/.venv && "
            f"mount --bind {sys.prefix} course/.venv && chown prof: our-course && "
            "find course -xdev -exec chown --no-dereference prof: {} +"
        )
        for path, text in re.findall(r"^```python\n# (/\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
            here.write(path, text)
        here.write("/srv/class/course.toml", 'team = ["prof"]\n[live]\nattempts = 5\n')
        here.sh("chown -R prof: /home/prof/.jupyter")
        yield here


@pytest.fixture(scope="module")
def hub(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the hub, once it listens."""
    front, inner, proxys = (free_port() for _ in range(3))
    address, log = f"http://127.0.0.1:{front}", tmp_path_factory.mktemp("hub") / "log"
    [live] = re.findall(r"```python\n(c\.JupyterHub\.services.*?)```", LIVE_PAGE, re.DOTALL)
    for said, here in {
        ":8787": f":{free_port()}", ":8000": f":{front}", '"07"': f'"{LIVE}", "--jobs", "1"',
        '/srv/course/course.toml"': '/srv/class/course.toml", "COURSE_SALT_FILE": "/srv/class/salt"',
        "/srv/course": "/home/prof/course",
    }.items():  # fmt: skip
        assert said in live
        live = live.replace(said, here)
    machine.sh(f"cat >> /etc/jupyterhub/jupyterhub_config.py <<'END'\n{live}\nEND")
    command = machine.words(
        "/opt/hub/bin/python", "-m", "jupyterhub", "-f", "/etc/jupyterhub/jupyterhub_config.py",
        f"--JupyterHub.bind_url={address}", f"--JupyterHub.hub_port={inner}",
        f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{proxys}",
        "--JupyterHub.db_url=sqlite:////srv/hub.sqlite", "--JupyterHub.cookie_secret_file=/srv/cookie_secret",
        "--JupyterHub.pid_file=/srv/hub.pid", "--Spawner.start_timeout=600", "--Spawner.http_timeout=600",
    )  # fmt: skip
    programs = "/opt/proxy/node_modules/.bin:/opt/hub/bin:" + os.environ["PATH"]
    # As `make setup` installs it: importable for the teacher, whose home nobody else can enter.
    own = {"PYTHONPATH": "/home/prof/course:/home/prof/course/notebooks", "OMP_NUM_THREADS": "1"}
    with log.open("w") as file:
        process = subprocess.Popen(command, env={"PATH": programs, **own}, stdout=file, stderr=file)
        try:
            until(lambda: listens(process, front, log))
            yield address
        finally:
            process.kill()  # what it started ends with the machine
            print(log.read_text()[-4000:])


@pytest.fixture(scope="module")
def pages(hub: str, browser: Any) -> Iterator[dict[str, Page]]:
    """Everybody's page, logged in with a password, on a server of their own: the servers start side by side."""
    opened = {}
    for name in ("prof", *STUDENTS):
        context = browser.new_context(viewport={"width": 1366, "height": 768})
        context.set_default_timeout(PATIENCE_MS)
        page = opened[name] = context.new_page()
        # JupyterLab's file browser says so now and then of a folder that is there.
        page.add_locator_handler(
            page.locator(".jp-Dialog", has_text="Directory not found"),
            lambda dialog: dialog.locator("button").last.click(),
        )
        until(lambda page=page: page.goto(f"{hub}/hub/login").ok)  # the proxy listens before the hub does
        page.locator("#username_input").fill(name)
        page.locator("#password_input").fill(f"{name}s-password")
        page.locator("#login_submit").click()
    for name, page in opened.items():
        page.wait_for_url(re.compile(rf"/user/{name}/lab"))
        expect(page.locator(".jp-Launcher").first).to_be_visible()
    yield opened
    for page in opened.values():
        page.context.close()


def in_a_terminal(page: Page, machine: Machine, script: str) -> str:
    """Type the page's commands into a terminal of the teacher's JupyterLab; what they printed."""
    machine.sh("rm -f /home/prof/.said /home/prof/.status")
    page.goto(re.sub(r"/lab.*", "/lab?reset", page.url))
    page.locator(".jp-LauncherCard", has_text="Terminal").click()
    page.locator(".jp-Terminal .xterm").click()
    machine.sh("until pgrep -u prof -x bash; do sleep 0.2; done")
    machine.write("/home/prof/.block", script)
    # All of a block at once, as somebody pastes it; its words are kept to be read here.
    page.keyboard.type("bash -e ~/.block > ~/.said 2>&1; echo $? > ~/.status\n", delay=5)
    until(lambda: machine.sh("cat /home/prof/.status 2>/dev/null || true"))
    said = machine.sh("cat /home/prof/.said")
    assert machine.sh("cat /home/prof/.status") == "0\n", said
    return said


def answer(name: str, machine: Machine) -> None:
    """ada answers all; bo one question wrongly, and the last one not at all."""
    file = machine.folder / "home" / name / LAB / f"{LAB}.ipynb"
    notebook = json.loads(file.read_text(encoding="utf-8"))
    answers = {question: right(LAB, question) for question in QUESTIONS}
    if name == "bo":
        answers["one_hot"] = SWAPPED
        del answers[QUESTIONS[-1]]
    for cell in notebook["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = answers.get(grade_id, cell["source"])
        if "YOUR ANSWER HERE" in "".join(cell["source"]):
            cell["source"] = f"{name} says: one-hot rows claim no order."
    file.write_text(json.dumps(notebook), encoding="utf-8")  # it stays the student's own


def feedback_of(name: str, page: Page, machine: Machine) -> str:
    """Fetch the feedback in the Assignment List and read the page that it links."""
    page.goto(re.sub(r"/lab.*", "/lab?reset", page.url))
    menu(page, "Nbgrader", "Assignment List")
    page.locator("#submitted_assignments_list").get_by_role("button", name="Fetch Feedback").click()
    expect(page.locator("#submitted_assignments_list").get_by_text("(view feedback)")).to_be_visible()
    # JupyterLab's file browser goes there; the file is opened as the browser's own page.
    stamp = machine.sh(f"ls /home/{name}/{LAB}/feedback").strip()
    read = page.context.new_page()
    read.goto(re.sub(r"/lab.*", f"/files/{LAB}/feedback/{stamp}/{LAB}.html", page.url))
    text = read.locator("main").inner_text()
    read.close()
    return text


def test_a_student_can_read_nothing_of_the_course(machine: Machine) -> None:
    questions, solutions = "/home/prof/course/autograder/questions", str(course_root() / "solutions")
    for place in ("/home/prof", questions, "/home/bo", solutions):
        seen = machine.sh(f"runuser -u ada -- ls {place} 2>/dev/null || echo closed")
        assert seen == "closed\n", place
    kit = machine.sh("cd / && runuser -u ada -- /opt/hub/bin/python -c 'import autograder' 2>&1 || true")
    assert "No module named 'autograder'" in kit


def test_a_lab_is_given_out_handed_in_graded_and_given_back(
    machine: Machine, pages: dict[str, Page], hub: str
) -> None:
    prof, ada, bo = pages.values()
    said = in_a_terminal(prof, machine, steps("give out"))
    assert f"Destination: /srv/nbgrader/exchange/bigrams/outbound/{LAB}" in said
    for name, page in zip(STUDENTS, (ada, bo), strict=True):
        menu(page, "Nbgrader", "Assignment List")
        page.locator("#released_assignments_list").get_by_role("button", name="Fetch").click()
        expect(page.locator("#fetched_assignments_list")).to_contain_text(LAB)
        answer(name, machine)
        page.goto(re.sub(r"/lab.*", f"/lab/tree/{LAB}/{LAB}.ipynb", page.url))
        expect(page.get_by_text("| Idle")).to_be_visible()

    menu(ada, "Run", "Run All Cells")
    said = validated(bo).inner_text()
    assert "one_hot" in said and "softmax" not in said and f"{QUESTIONS[-1]}: not written yet" in said
    bo.keyboard.press("Escape")
    for question in QUESTIONS:
        expect(card(ada, question)).to_have_class("ck good")
    for page in (ada, bo):
        menu(page, "Nbgrader", "Assignment List")
        page.locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()
        expect(page.locator("#submitted_assignments_list")).to_contain_text(LAB)

    in_a_terminal(prof, machine, steps("collect and grade"))
    rows = json.loads(machine.sh("cat /home/prof/our-course/results.json"))
    points = {row["student"]: {q["name"]: q["points"] for q in row["questions"]} for row in rows}
    most = dict(spec(LAB).questions)
    wrong = points["bo"]["one_hot"]
    assert wrong < most["one_hot"]
    assert points == {"ada": most, "bo": {**most, "one_hot": wrong, QUESTIONS[-1]: 0}}
    formgrader = prof.context.new_page()
    formgrader.goto(f"{hub}/user/prof/formgrader")
    row = formgrader.get_by_role("row", name=LAB)
    expect(row.get_by_role("gridcell", name=str(len(STUDENTS)), exact=True)).to_be_visible()

    in_a_terminal(prof, machine, steps("give back"))
    for row in rows:
        text = feedback_of(row["student"], pages[row["student"]], machine)
        assert text.startswith(f"Feedback for {row['student']} ·") and "one_hot" in text
        assert f" {row['score']:g} of " in " ".join(text.split())
    feedback = "/srv/nbgrader/exchange/bigrams/feedback"
    assert len(machine.sh(f"ls {feedback}").split()) == len(STUDENTS)
    assert machine.sh(f"runuser -u ada -- ls {feedback} 2>/dev/null || echo closed") == "closed\n"


def hand_in(page: Page, content: bytes) -> None:
    file = {"name": f"{LIVE}.ipynb", "mimeType": "application/json", "buffer": content}
    page.get_by_label("Your saved notebook").set_input_files(file)
    page.get_by_role("button", name="Hand in").click()


def test_a_live_class_hands_in_and_mends_while_its_room_moves(hub: str, pages: dict[str, Page]) -> None:
    service = f"{hub}/services/autograder/"
    # until it has tried its lab; then it knows nobody
    until(lambda: pages["prof"].request.get(service).status == 401)

    def opened(who: str, place: str = "") -> Page:
        page = pages[who].context.new_page()
        page.on("pageerror", lambda error: pytest.fail(f"{who}: {error}"))
        page.on(
            "request", lambda asked: asked.url.startswith((hub, "data:", "blob:")) or pytest.fail(asked.url)
        )
        page.goto(service + place)
        return page

    room = opened("prof", f"room/{LIVE}")
    expect(room.get_by_role("status").first).to_contain_text("0 students have a verdict")
    room.get_by_role("button", name="Start an exercise").click()
    expect(room.get_by_role("timer")).to_contain_text(":")
    line = room.locator(".question", has_text="normalise_rows")
    students = {who: opened(who) for who in STUDENTS}
    for who, page in students.items():
        expect(page.locator(".timer")).to_contain_text("left in class")
        hand_in(page, notebook(frozen_course.WRONG, who))
    for page in students.values():
        first = page.locator(".attempt", has_text="Attempt 1 of 5")
        expect(first).to_have_attribute("data-state", "graded")
        change = first.locator(".change", has_text="normalise_rows")
        expect(change.locator(".cause")).not_to_be_empty()
        expect(change.locator(".code")).to_contain_text("def normalise_rows")
    expect(line).to_contain_text("0 of 2 have it")
    line.get_by_role("button", name="Demo").click()
    expect(room.frame_locator("iframe").locator("svg").first).to_be_visible()
    expect(line.locator(".thought b").first).to_have_text("2")
    assert "ada" not in room.locator("body").inner_text()

    ada, bo = students.values()
    bo.get_by_text("Ask a teacher").click()
    bo.get_by_label("What do you think is wrong?").fill("My rows sum to one.")
    bo.get_by_role("button", name="Ask", exact=True).click()
    expect(bo.get_by_text("There is no answer yet.")).to_be_visible()
    for who, page in students.items():
        hand_in(page, notebook({}, who))
    expect(line).to_contain_text("2 of 2 have it")
    expect(ada.locator(".attempt", has_text="Attempt 2 of 5")).to_contain_text("This attempt counts")
    ada.goto(f"{service}team/{LIVE}")
    expect(ada.get_by_text("This page is the teaching team's.")).to_be_visible()

    room.goto(f"{service}team/{LIVE}")
    for who in STUDENTS:
        expect(room.locator(f"tr[data-student={who}]")).to_contain_text("graded")
    expect(room.locator("#requests")).to_contain_text("My rows sum to one.")
    room.get_by_role("button", name="Answer").first.click()
    room.get_by_label("Your answer").fill("Together they do, each alone does not.")
    room.locator("dialog[open]").get_by_role("button", name="Answer").click()
    expect(room.locator("#requests")).to_be_empty()
    bo.reload()
    expect(bo.get_by_text("Together they do, each alone does not.")).to_be_visible()
