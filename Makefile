# One word each. `make serve` and `make test` set up what they need.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready

.PHONY: setup serve test lint types conformance bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "mcpdecl needs Python 3.11 or later; set PYTHON=…")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

serve: setup
	$(BIN)/mcpdecl serve manifests

test: lint types
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup
	$(BIN)/mypy

conformance: setup
	$(BIN)/python -m pytest tests/conformance

bench: setup
	$(BIN)/python -m bench

clean:
	rm -rf .venv .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist
