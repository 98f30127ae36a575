# The vocabulary of the project. `make test` is the gate: .ci/run calls it and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests want optimised code with overflow checks, not the slow link-time optimisation of a release.
export SETUPTOOLS_RUST_CARGO_PROFILE ?= gate
# Two cores, two things at once; one that fails does not keep the others from saying what they found.
JOBS ?= 2
AT_ONCE := --no-print-directory --jobs=$(JOBS) --output-sync=target --keep-going
# Cargo would look for a jobserver that is not there for it.
ALONE := env -u MAKEFLAGS -u MFLAGS

# The Python tests in parts, each a process: these folders, `rest` for all others, and `slow` for
# what is marked so, wherever it is. The long ones come first, so that none is left alone at the end.
WATCHED := rest client cli analysis lint lsp
UNWATCHED := property conformance
PARTS := slow $(WATCHED) $(UNWATCHED)
ELSEWHERE := $(patsubst %,--ignore=tests/%,$(filter-out slow rest,$(PARTS)))
PYTEST := pytest -p no:cacheprovider

.PHONY: help install test gate lint rust types servers pytest coverage bench fuzz mutants docs clean
.PHONY: $(PARTS:%=test-%)

help:
	@echo "make test     install what is needed and run the whole gate"
	@echo "make install  a virtual environment with robotrules in it"
	@echo "make pytest   the Python tests alone     make rust   the Rust tests alone"
	@echo "make test-cli a part of the Python tests: $(PARTS)"
	@echo "make bench    ratios against rivals      make fuzz   look for crashes and disagreement"
	@echo "make docs     make the generated pages anew"
	@echo "make mutants  change the code in small ways and see whether a test notices (hours; PART=tags SAMPLE=50)"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "robotrules needs Python 3.11 or newer: make test PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

install: $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(ALONE) $(BIN)/python -m pip install --quiet --no-compile --editable . --group test --group lint

test:
	$(MAKE) $(AT_ONCE) gate
	@echo "The gate is open: lint, types, Rust tests, Python tests on $$($(BIN)/robotrules --version)."

gate: install servers rust $(PARTS:%=test-%) types lint coverage

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
	else echo "no native engine here: its stub is not compared"; fi

# With the profile of the engine that Python has: what it was built from is not built again.
rust:
	@if command -v cargo >/dev/null; then \
	  cargo fmt --all --check && \
	  $(ALONE) cargo clippy --quiet --profile gate --workspace --all-targets -- -D warnings && \
	  $(ALONE) cargo test --quiet --profile gate -p robotrules-core; \
	elif [ "$${ROBOTRULES_REQUIRE_EXTENSIONS:-0}" != 0 ]; then echo "cargo is required here"; exit 1; \
	else echo "no cargo here: the Rust tests did not run"; fi

# A real Redis and a real PostgreSQL for the tests of shared stores, where they can be had.
servers:
	$(PYTHON) scripts/test_servers.py

pytest:
	$(MAKE) $(AT_ONCE) $(PARTS:%=test-%) coverage

test-slow: install servers
	$(BIN)/python -m $(PYTEST) -m slow

# The tests of a module are watched; coverage adds up what their parts saw.
test-rest: install servers
	COVERAGE_FILE=.coverage.rest $(BIN)/coverage run -m $(PYTEST) -m "not slow" tests $(ELSEWHERE)

$(filter-out test-rest,$(WATCHED:%=test-%)): test-%: install servers
	COVERAGE_FILE=.coverage.$* $(BIN)/coverage run -m $(PYTEST) -m "not slow" tests/$*

# These go again and again over lines that the others went over: watching them takes as long as they
# do, and shows a tenth of a percent that was not seen.
$(UNWATCHED:%=test-%): test-%: install
	$(BIN)/python -m $(PYTEST) -m "not slow" tests/$*

coverage: $(WATCHED:%=test-%)
	$(BIN)/coverage combine --quiet $(WATCHED:%=.coverage.%)
	$(BIN)/coverage report --fail-under=95

bench: install
	SETUPTOOLS_RUST_CARGO_PROFILE=release $(BIN)/python -m pip install --quiet --editable . --no-deps --force-reinstall
	$(BIN)/python -m pip install --quiet -r benches/requirements.txt
	$(BIN)/python benches/run.py

fuzz: install
	$(BIN)/python fuzz/run.py --seconds 60

# PART: parts of scripts/mutants.py, or `rust`; everything by default. SAMPLE: mutants of each Python part.
PART ?=
SAMPLE ?= 150
mutants: install
ifneq (,$(filter rust,$(or $(PART),rust)))
	@command -v cargo-mutants >/dev/null || $(ALONE) cargo install --quiet --locked cargo-mutants
	$(ALONE) $(BIN)/python scripts/rust_mutants.py
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
