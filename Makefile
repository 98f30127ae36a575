# `make test` is the gate: .ci/run calls only that.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests need optimised code with overflow checks, without the slow link-time optimisation of a release.
export SETUPTOOLS_RUST_CARGO_PROFILE ?= gate
# Three jobs at a time on two cores, because many tests wait for servers and browsers; after a failure
# the other jobs still run and report.
JOBS ?= 3
PARALLEL := --no-print-directory --jobs=$(JOBS) --output-sync=target --keep-going
# Cargo would look for the jobserver of make, which it cannot use.
WITHOUT_JOBSERVER := env -u MAKEFLAGS -u MFLAGS

# The Python tests in parts, each a process: these folders, `rest` for all others, `slow` for the tests
# with that marker, and `browser` for those of the service. The longest parts come first, to balance the
# jobs.
MEASURED := rest client service cli bulk operations integrations serving analysis lint compat lsp
UNMEASURED := property conformance
PARTS := slow browser $(MEASURED) $(UNMEASURED)
IGNORED := $(patsubst %,--ignore=tests/%,$(filter-out slow browser rest,$(PARTS)))
PYTEST := pytest -p no:cacheprovider

.PHONY: help install test gate lint rust types programs pytest coverage bench fuzz mutants docs clean
.PHONY: $(PARTS:%=test-%)

help:
	@echo "make test     install the dependencies and run the whole gate"
	@echo "make install  create a virtual environment with robotrules"
	@echo "make pytest   run the Python tests       make rust   run the Rust tests"
	@echo "make test-cli run a part of the Python tests: $(PARTS)"
	@echo "make bench    compare with other parsers make fuzz   find crashes and differences between engines"
	@echo "make docs     write the generated pages"
	@echo "make mutants  run mutation tests (hours; PART=tags SAMPLE=50)"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "robotrules needs Python 3.11 or newer: make test PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

install: $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(WITHOUT_JOBSERVER) $(BIN)/python -m pip install --quiet --no-compile --editable . --group test --group lint

test:
	$(MAKE) $(PARALLEL) gate
	@echo "All checks passed: lint, types, Rust tests, Python tests on $$($(BIN)/robotrules --version)."

gate: install programs rust $(PARTS:%=test-%) types lint coverage

lint: install types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python conformance/lint.py
	$(BIN)/python scripts/rfc9309_page.py --check
	$(BIN)/python scripts/extensions_pages.py --check
	$(BIN)/python scripts/profiles_page.py --check
	$(BIN)/python scripts/lint_pages.py --check
	$(BIN)/python scripts/crawlers_page.py --check

types: install
	$(BIN)/mypy
	@if $(BIN)/python -c 'import robotrules._engine._native' 2>/dev/null; then \
	  $(BIN)/stubtest robotrules._engine._native --ignore-disjoint-bases; \
	else echo "the native engine is not built: its stub is not compared"; fi

# With the cargo profile of the installed engine, so that its dependencies are not built again.
rust:
	@if command -v cargo >/dev/null; then \
	  cargo fmt --all --check && \
	  $(WITHOUT_JOBSERVER) cargo clippy --quiet --profile gate --workspace --all-targets -- -D warnings && \
	  $(WITHOUT_JOBSERVER) cargo test --quiet --profile gate -p robotrules-core; \
	elif [ "$${ROBOTRULES_REQUIRE_EXTENSIONS:-0}" != 0 ]; then echo "cargo is required"; exit 1; \
	else echo "cargo is not installed: the Rust tests did not run"; fi

# Install Redis, PostgreSQL and Chromium for the tests, if possible.
programs:
	$(PYTHON) scripts/test_programs.py

pytest:
	$(MAKE) $(PARALLEL) $(PARTS:%=test-%) coverage

test-slow: install programs
	$(BIN)/python -m $(PYTEST) -m slow --ignore=tests/service

test-browser: install programs
	$(BIN)/python -m $(PYTEST) -m slow tests/service

# Coverage is measured in each part and combined.
test-rest: install programs
	COVERAGE_FILE=.coverage.rest $(BIN)/coverage run -m $(PYTEST) -m "not slow" tests $(IGNORED)

$(filter-out test-rest,$(MEASURED:%=test-%)): test-%: install programs
	COVERAGE_FILE=.coverage.$* $(BIN)/coverage run -m $(PYTEST) -m "not slow" tests/$*

# Without coverage, which would double the time of these parts and add a tenth of a percent.
$(UNMEASURED:%=test-%): test-%: install
	$(BIN)/python -m $(PYTEST) -m "not slow" tests/$*

coverage: $(MEASURED:%=test-%)
	$(BIN)/coverage combine --quiet $(MEASURED:%=.coverage.%)
	$(BIN)/coverage report --fail-under=95

bench: install
	SETUPTOOLS_RUST_CARGO_PROFILE=release $(BIN)/python -m pip install --quiet --editable . --no-deps --force-reinstall
	$(BIN)/python -m pip install --quiet -r benches/requirements.txt
	$(BIN)/python benches/run.py

fuzz: install
	$(BIN)/python fuzz/run.py --seconds 60

# PART: parts of scripts/mutants.py, or `rust`; all by default. SAMPLE: number of mutants of each Python part.
PART ?=
SAMPLE ?= 150
mutants: install
ifneq (,$(filter rust,$(or $(PART),rust)))
	@command -v cargo-mutants >/dev/null || $(WITHOUT_JOBSERVER) cargo install --quiet --locked cargo-mutants
	$(WITHOUT_JOBSERVER) $(BIN)/python scripts/rust_mutants.py
endif
ifneq (rust,$(strip $(PART)))
	$(BIN)/python -m pip install --quiet --group mutants
	$(BIN)/python scripts/mutants.py $(filter-out rust,$(PART)) --sample $(SAMPLE)
endif

docs: install
	$(BIN)/python scripts/rfc9309_page.py
	$(BIN)/python scripts/extensions_pages.py
	$(BIN)/python scripts/profiles_page.py
	$(BIN)/python scripts/lint_pages.py
	$(BIN)/python scripts/crawlers_page.py

clean:
	rm -rf $(VENV) build dist target src/*.egg-info src/robotrules/_engine/_native*.so
