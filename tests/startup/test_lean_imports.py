"""What the harness leaves out at its start, and that all of it is there for whoever asks."""

import subprocess
import sys

_LEAN = "import autograder.startup.lean_imports, sys\n"


def _printed(source: str) -> str:
    done = subprocess.run([sys.executable, "-c", _LEAN + source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_gradebook_and_the_build_load_no_server_no_exporter_and_no_kernels_client():
    heavy = ("requests", "bs4", "nbclient", "zmq", "alembic", "setuptools", "jupyter_server", "tornado.web")
    loaded = _printed(
        "import autograder.gradebook.writer, autograder.course.build\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert loaded == "[]"


def test_a_package_of_which_little_was_loaded_gives_every_name_that_it_has():
    assert "ExecutePreprocessor HTMLExporter Execute NbGraderApp" in _printed(
        "from nbgrader.preprocessors import ClearSolutions\n"
        "import nbgrader, nbconvert.preprocessors\n"
        "from nbconvert import HTMLExporter\n"
        "from nbgrader.preprocessors import Execute\n"
        "from nbgrader.preprocessors import ClearSolutions as again\n"
        "from nbgrader.apps import NbGraderApp\n"
        "assert again is ClearSolutions and nbgrader.__version__\n"
        "kinds = nbconvert.preprocessors.ExecutePreprocessor, HTMLExporter, Execute, NbGraderApp\n"
        "print(*(kind.__name__ for kind in kinds))"
    )


def test_an_archive_is_unpacked_by_the_function_that_was_not_loaded(tmp_path):
    (tmp_path / "in.txt").write_text("it was here")
    _printed(
        "import nbgrader.utils, shutil\n"
        "assert 'setuptools' not in sys.modules\n"
        f"shutil.make_archive({str(tmp_path / 'packed')!r}, 'zip', {str(tmp_path)!r}, 'in.txt')\n"
        f"nbgrader.utils.unpack_archive({str(tmp_path / 'packed.zip')!r}, {str(tmp_path / 'out')!r})\n"
    )
    assert (tmp_path / "out" / "in.txt").read_text() == "it was here"
