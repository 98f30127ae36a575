# The vocabulary of the project. `make test` is the gate: .ci/run calls it and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests want optimised code with overflow checks, not the slow link-time optimisation of a release.
export SETUPTOOLS_RUST_CARGO_PROFILE ?= gate

.PHONY: help install test lint rust types servers pytest quick slow bench fuzz docs clean

help:
	@echo "make test     install what is needed and run the whole gate"
	@echo "make install  a virtual environment with robotrules in it"
	@echo "make pytest   the Python tests alone     make rust   the Rust tests alone"
	@echo "make bench    ratios against rivals      make fuzz   look for crashes and disagreement"
	@echo "make docs     make the generated pages anew"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "robotrules needs Python 3.11 or newer: make test PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

install: $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group test --group lint

test: install lint rust pytest
	@echo "The gate is open: lint, types, Rust tests, Python tests on $$($(BIN)/robotrules --version)."

lint: install types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python conformance/lint.py
	$(BIN)/python scripts/rfc9309_page.py --check
	$(BIN)/python scripts/extensions_pages.py --check
	$(BIN)/python scripts/profiles_page.py --check

types: install
	$(BIN)/mypy
	@if $(BIN)/python -c 'import robotrules._engine._native' 2>/dev/null; then \
	  $(BIN)/stubtest robotrules._engine._native --ignore-disjoint-bases; \
	else echo "no native engine here: its stub is not compared"; fi

rust:
	@if command -v cargo >/dev/null; then \
	  cargo fmt --all --check && \
	  cargo clippy --quiet --workspace --all-targets -- -D warnings && \
	  cargo test --quiet -p robotrules-core; \
	elif [ "$${ROBOTRULES_REQUIRE_EXTENSIONS:-0}" != 0 ]; then echo "cargo is required here"; exit 1; \
	else echo "no cargo here: the Rust tests did not run"; fi

# A real Redis and a real PostgreSQL for the tests of shared stores, where they can be had.
servers: install
	$(BIN)/python scripts/test_servers.py

# Two cores, two runs: what is slow is run beside what is watched for coverage.
pytest: install servers
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target quick slow

quick:
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m "not slow"
	$(BIN)/coverage report --fail-under=95

slow:
	$(BIN)/python -m pytest -m slow -p no:cacheprovider

bench: install
	SETUPTOOLS_RUST_CARGO_PROFILE=release $(BIN)/python -m pip install --quiet --editable . --no-deps --force-reinstall
	$(BIN)/python -m pip install --quiet -r benches/requirements.txt
	$(BIN)/python benches/run.py

fuzz: install
	$(BIN)/python fuzz/run.py --seconds 60

docs: install
	$(BIN)/python scripts/rfc9309_page.py
	$(BIN)/python scripts/extensions_pages.py
	$(BIN)/python scripts/profiles_page.py

clean:
	rm -rf $(VENV) build dist target src/*.egg-info src/robotrules/_engine/_native*.so
