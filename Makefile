# Every target sets up .venv by itself; a second call is quick.
# .venv keeps the Python it was made with (a new one: python3.11); `make PYTHON=python3.12 test` makes it anew with another.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(or $(shell $(BIN)/python -c 'import sys; print(sys._base_executable)' 2>/dev/null),python3.11)
# "3.11.2", or nothing where that Python is missing or of another version than the course supports.
VERSION_OF = import sys; print(sys.version.split()[0] if (3, 11) <= sys.version_info < (3, 14) else "")
VERSION := $(shell $(PYTHON) -c '$(VERSION_OF)' 2>/dev/null)
STAMP := $(VENV)/.installed-$(VERSION)
LABS := $(VENV)/.labs-$(VERSION)
DEMO := build/demo
COMMA := ,
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# uv installs and resolves in seconds. It asks the index that pip is set up for.
UV = $(addprefix UV_DEFAULT_INDEX=,$(shell $(BIN)/python -m pip config get global.index-url 2>/dev/null)) $(BIN)/uv
TESTS := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 4 --dist loadgroup

# `notebooks` is a folder, too.
.PHONY: help setup lock demo check test proof lint style types notebooks suite mutants lines pictures lab lecture site formgrader bench clean

help:
	@echo "make setup | demo | check | test | proof | lint | mutants | lines | pictures | lab | lecture | site | formgrader | bench | lock | clean"

# Makes .venv and installs PyTorch and what `.$(1)` names, with pip's and uv's own lines and bars about how far it is.
define INSTALL
@test -n "$(VERSION)" || { echo "$(PYTHON) is no Python 3.11 to 3.13: install one, then make PYTHON=/path/to/python3.11"; exit 2; }
@echo "With Python $(VERSION) into .venv, once: $(2)"
@test "$$($(BIN)/python -c '$(VERSION_OF)' 2>/dev/null)" = "$(VERSION)" || { rm -rf $(VENV) && $(PYTHON) -m venv $(VENV); } \
  || { rm -rf $(VENV); echo "$(PYTHON) cannot make .venv: install its venv package (Debian: apt-get install python3-venv)."; exit 2; }
@echo "1 of 3: the installer (20 MB)"; $(PIP) --constraint requirements.lock uv
@echo "2 of 3: PyTorch, its build for processors (200 MB)"
@PIP_NO_COMPILE=1 sh autograder/exports/gradescope_bundle/install_torch.sh requirements.lock $(BIN)/python $(BIN)/python -m pip
@echo "3 of 3: all other packages"
@$(UV) pip install --compile-bytecode --python $(BIN)/python --constraint requirements.lock --editable ".$(1)"
endef

$(STAMP): pyproject.toml requirements.lock
	$(call INSTALL,[dev],the labs$(COMMA) the harness and the tools for tests and lectures. It needs 2.3 GB of disk and one to five minutes.)
	@rm -f $(VENV)/.installed* && touch $@

# What the labs need; all that `make setup` installs has it, too. Create Assignment is a tool of nbgrader's for teachers.
$(LABS): pyproject.toml requirements.lock
	$(if $(wildcard $(STAMP)),,$(call INSTALL,,what the labs need. It fetches about 420 MB and takes one to three minutes.))
	@$(BIN)/jupyter labextension disable @jupyter/nbgrader:create-assignment >/dev/null 2>&1
	@rm -f $(VENV)/.labs* && touch $@

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

# Whether every supported Python can have the locked versions: asked of the index, nothing is installed.
$(VENV)/.lock-resolves: pyproject.toml requirements.lock | setup
	@$(UV) pip compile --quiet --universal --python-version 3.11.0 --constraint requirements.lock --extra dev --output-file $@ pyproject.toml \
	  || { rm -f $@; echo "requirements.lock does not resolve for Python 3.11.0 to 3.13: change what uv names above."; exit 1; }

lint: style types

style: setup $(VENV)/.lock-resolves
	$(BIN)/ruff check .
	$(BIN)/ruff format --check autograder notebooks/coursekit tests benchmarks data docs/*.py
	$(BIN)/lint-imports
	$(BIN)/deptry .

types: setup
	$(BIN)/mypy

notebooks: setup
	$(BIN)/autograder build --check

suite: setup
	$(BIN)/python tests/install_programs.py
	$(TESTS)

# While working: no sandbox, no browser, no training (tests/conftest.py says which tests are left out).
check: lint
	$(TESTS) -m "not slow"

# Everything. CI runs this. Many tests wait for a clock, a browser or a child: types and notebooks are checked meanwhile.
test: style
	@$(MAKE) --no-print-directory -j 3 types notebooks suite

# What a change can hardly break unseen by `make test`: five salts, every screen, every attack at every level, fuzzers, mutants of
# the masters, and one-line changes of the harness. Before a release; some hours.
proof: test mutants
	$(TESTS) -m proof
	$(BIN)/python -m tests.mutate_harness

# Lines of Python by folder, beside their budget.
lines: setup
	@$(BIN)/python -m benchmarks.lines

# Do the hidden tests notice small changes of the masters' solutions? LABS="07 09" measures these only. Writes docs/mutants.md.
mutants: setup
	$(BIN)/python -m docs.make_mutants $(LABS)

# The pictures of README and gallery, photographed anew; a test says when they are out of date.
pictures: setup
	$(BIN)/python tests/install_programs.py
	$(BIN)/python -m docs.make_pictures

lab: $(LABS)
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
