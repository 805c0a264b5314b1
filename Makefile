# Kumi: `make demo` and `make test` set up all they need; the rest is for those who work on it.
.PHONY: help setup setup-dev demo demo-torch test lint bench docs mutants clean

VENV := .venv
BIN := $(VENV)/bin
# The first Python of 3.11 or newer on the PATH; say `make PYTHON=/path/to/python3.12 ...` to choose another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; exit; }; done)

help:
	@echo "make demo        two gangs that would deadlock elsewhere, both finish (NumPy)"
	@echo "make demo-torch  the same with torch.distributed"
	@echo "make test        every test; lint first"
	@echo "make lint        ruff, mypy --strict, the floors"
	@echo "make mutants     plants named faults in the rules; the tests must catch each"
	@echo "make bench       measures; prints ratios"
	@echo "make docs        regenerates docs/rules.md from the docstrings"

$(VENV)/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Kumi needs Python 3.11 or newer: install it, or say make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing: install it (Debian: apt install python3-venv)" >&2; rm -rf $(VENV); exit 1; }
	$(BIN)/python -m pip install -q --disable-pip-version-check -U "pip>=25.1"
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@$(BIN)/python -m compileall -q src  # as pip does with what it copies; else each start of kumi compiles where the environment forbids to keep it
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready tools/programs.py
	$(BIN)/python -m pip install -q --disable-pip-version-check -e . --group dev
	$(BIN)/python tools/programs.py
	@touch $@

setup: $(VENV)/ready

setup-dev: $(VENV)/ready-dev

demo: setup
	@$(BIN)/python examples/two-gangs/demo.py $(DEMO)

demo-torch: setup
	@$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/python -m pip install -q --disable-pip-version-check torch==2.13.0
	@$(BIN)/python examples/two-gangs/demo.py --torch $(DEMO)

lint: setup-dev
	$(BIN)/ruff format --check src tests tools bench examples
	$(BIN)/ruff check src tests tools bench examples
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest $(TESTS)

mutants: setup-dev
	$(BIN)/python tools/mutants.py $(MUTANTS)

bench: setup
	$(BIN)/python bench/run.py $(BENCH) && $(BIN)/python bench/admission.py && $(BIN)/python bench/placement.py && $(BIN)/python bench/evaluator.py

docs: setup-dev
	$(BIN)/python tools/rules.py --write docs/rules.md

clean:
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
