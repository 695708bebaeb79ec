# Every target sets up .venv by itself; a second call is quick.
# Python 3.11 to 3.13; `make PYTHON=python3.12 test` chooses another.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := build/demo
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock
TESTS := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

.PHONY: help setup lock demo check test lint mutants pictures lab lecture site formgrader bench clean

help:
	@echo "make setup | demo | check | test | lint | mutants | pictures | lab | lecture | site | formgrader | bench | lock | clean"

$(STAMP): pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "Python 3.11 to 3.13 with venv is needed: make PYTHON=/path/to/python3.11"; exit 2; }
	@sh autograder/exports/gradescope_bundle/install_torch.sh requirements.lock $(BIN)/python $(BIN)/python -m pip
	$(PIP) --editable ".[dev]"
	@touch $@

setup: $(STAMP)

# Once other versions are installed and `make test` passes with them: pin these.
lock:
	@sed -n '/^#/p' requirements.lock > requirements.lock.new
	@$(BIN)/python -m pip freeze --exclude-editable | sed -n '/^#/d; s/+cpu$$//; p' >> requirements.lock.new
	@mv requirements.lock.new requirements.lock

demo: setup
	@rm -rf $(DEMO)
	@$(BIN)/autograder simulate 07 --students 30 --out $(DEMO)/submitted
	@$(BIN)/autograder grade 07 --submitted $(DEMO)/submitted --out $(DEMO)
	@echo "See the gradebook in the browser: make formgrader"

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check autograder notebooks/coursekit tests benchmarks data docs/*.py
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/mypy

# While working: no sandbox, no browser, no training (tests/conftest.py says which tests are left out).
check: lint
	$(TESTS) -m "not slow"

# Everything. CI runs this.
test: lint
	$(BIN)/autograder build --check
	$(BIN)/python tests/install_browser.py
	$(BIN)/python tests/install_hub_proxy.py
	$(TESTS)

# Do the hidden tests notice small changes of the masters' solutions? LABS="07 09" measures these only. Writes docs/mutants.md.
mutants: setup
	$(BIN)/python -m docs.make_mutants $(LABS)

# The README's pictures, photographed anew.
pictures: setup
	$(BIN)/python tests/install_browser.py
	$(BIN)/python -m docs.make_pictures

lab: setup
	cd notebooks && ../$(BIN)/jupyter lab

# The lecture demos in JupyterLab. (`make site` writes them as pages that need no server. A translator's weights are nine
# megabytes, which Jupyter would hold back as an output that runs wild.)
lecture: setup
	cd notebooks/demos && ../../$(BIN)/jupyter lab --ZMQChannelsWebsocketConnection.iopub_data_rate_limit=100000000

# The course's page in build/site: labs, demos, slides, guide. Files only: any static host shows it, under any path.
site: setup
	$(BIN)/python -m coursekit.demos.site

formgrader: setup
	@test -f $(DEMO)/gradebook.db || $(MAKE) demo
	$(BIN)/autograder formgrader --out $(DEMO)

bench: setup
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf build .pytest_cache .mypy_cache .ruff_cache
