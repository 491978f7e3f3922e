# Every target creates the virtual environments that it needs inside this folder; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := -m pip install --quiet --disable-pip-version-check
JOBS ?= 2
# What an editable install is made from, apart from Python: its loops are compiled again if one of these has changed.
COMPILED := pyproject.toml hatch_build.py $(wildcard src/anchorless/_core/*.c)
# The share of src, in percent, that the tests must execute.
COVERAGE := 95

.PHONY: coverage demo faults fuzz overlaps soak test test-slow test-quick test-kernels test-lowest test-wheel lint docs docs-examples format clean

demo: $(VENV)/demo-ready
	$(BIN)/anchorless demo
	@echo 'these commands need the environment of the demo; once per terminal: source $(BIN)/activate'

# What this machine allows: tests whose programs or libraries are missing are skipped, and -rs says why.
test: $(VENV)/test-all-ready lint
	$(BIN)/python -m pytest -rs -n $(JOBS) --dist worksteal -m 'not slow' $(MEASURE)

# The rest: clusters, experiments, benchmarks and examples of the documentation.
test-slow: $(VENV)/test-all-ready
	$(BIN)/python -m pytest -rs -n $(JOBS) --dist worksteal -m slow $(MEASURE)

# The share of src that the two commands above executed, if MEASURE was --cov; measuring takes a quarter of the time.
coverage:
	$(BIN)/coverage report --fail-under=$(COVERAGE)

# What the extra `test` can run, in under 3 minutes: no Java, browser, gensim, Dask or Spark.
test-quick: $(VENV)/test-ready lint
	$(BIN)/python -m pytest -rs -n $(JOBS) --dist worksteal -m 'not slow' --ignore=tests/report

lint: $(VENV)/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The numerical promises, under every BLAS kernel and SIMD level that this processor can execute.
test-kernels: $(VENV)/test-ready
	$(BIN)/python -m tests.helpers.kernels

# The quick tests with the oldest versions of the dependencies that pyproject.toml allows.
test-lowest: $(VENV)-lowest/ready
	$(VENV)-lowest/bin/python -m pytest -n $(JOBS) --dist worksteal --ignore=tests/benchmarks --ignore=tests/experiments \
	  --ignore=tests/distributed --ignore=tests/report/test_browser.py --ignore=tests/test_docs.py

# Mutated files of every format, and a fifth as many models, documents, files beside them, and records of runs; findings are kept. `make fuzz MUTANTS=1000` is short.
MUTANTS ?= 100000
fuzz: $(VENV)/test-all-ready
	$(BIN)/python -m tests.helpers.fuzzing $(MUTANTS) --targets files --jobs $(JOBS)
	$(BIN)/python -m tests.helpers.fuzzing $$(($(MUTANTS) / 5)) --targets models --jobs $(JOBS)
	$(BIN)/python -m tests.helpers.fuzzing $$(($(MUTANTS) / 5)) --targets documents --jobs $(JOBS)
	$(BIN)/python -m tests.helpers.fuzzing $$(($(MUTANTS) / 5)) --targets side --jobs $(JOBS)
	$(BIN)/python -m tests.helpers.fuzzing $$(($(MUTANTS) / 5)) --targets records --jobs $(JOBS)

# A kill, a full disk, an error and a short write at every disk call of every command that writes; takes an hour.
faults: $(VENV)/test-all-ready
	$(BIN)/python -m tests.helpers.faults

# Two commands at the same time on one output: at random moments, and with the first one stopped at its disk calls.
overlaps: $(VENV)/test-all-ready
	$(BIN)/python -m tests.helpers.overlaps

# Commands at random under a limit of memory, with the same bytes on every repetition.
SOAK_MINUTES ?= 60
soak: $(VENV)/test-all-ready
	$(BIN)/python -m tests.helpers.soak $(SOAK_MINUTES)

# The built wheel alone, in an empty environment: what a user gets.
test-wheel: $(BIN)/python
	rm -rf $(VENV)-wheel build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python $(PIP) build/wheel/anchorless-*.whl
	cd build/wheel && ../../$(VENV)-wheel/bin/python ../../tests/helpers/smoke_test.py
	rm -rf $(VENV)-wheel

# The documentation as a site, in build/site: open build/site/index.html. Needs no network.
docs: $(VENV)/docs-ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Run the examples of the documentation and write their output into the pages.
docs-examples: $(VENV)/test-all-ready
	$(BIN)/python -m tests.helpers.update_docs

format: $(VENV)/test-ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-wheel build

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "anchorless needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo-ready: $(BIN)/python $(COMPILED)
	$(BIN)/python $(PIP) --editable '.[plot,effects]'
	@touch $@

$(VENV)/test-ready: $(BIN)/python $(COMPILED)
	$(BIN)/python $(PIP) --editable '.[test]'
	@touch $@

$(VENV)/test-all-ready: $(BIN)/python $(COMPILED)
	$(BIN)/python $(PIP) --editable '.[test-all]'
	@touch $@ $(VENV)/test-ready

$(VENV)/docs-ready: $(BIN)/python $(COMPILED)
	$(BIN)/python $(PIP) --editable '.[docs]'
	@touch $@

$(VENV)-lowest/ready: $(COMPILED) tests/helpers/lowest_versions.py
	rm -rf $(VENV)-lowest
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python tests/helpers/lowest_versions.py > $(VENV)-lowest/constraints.txt
	$(VENV)-lowest/bin/python $(PIP) --constraint $(VENV)-lowest/constraints.txt --editable '.[effects,excel,plot]' \
	  hypothesis pytest pytest-cov pytest-xdist
	@touch $@
