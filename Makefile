# Two commands matter: `make run` opens the dashboard, `make test` checks everything.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TOOLS := $(VENV)-tools
DOCS := $(VENV)-docs
ADDRESS ?= 127.0.0.1
PORT ?= 8501
DOCS_PORT ?= 8502
PYTEST_ARGS ?=
UPGRADE ?=
HOME_URL ?=
PIP_INSTALL := bin/pip install --quiet --disable-pip-version-check --require-hashes

# More BLAS threads cost nine times the processor time here, for nothing.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

# Compiled once, beside the libraries: each process that is started would compile everything again.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(abspath $(VENV))/compiled

.PHONY: run test test-fast test-all words bench lint workflows audit docs site demo links pins bill dist changelog image clean

run: $(VENV)/installed
	$(BIN)/python -m streamlit run app.py --server.address $(ADDRESS) --server.port $(PORT)

test: $(VENV)/tested browser
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# Units and properties alone: no page, no browser, no other process, no statistics, no stored results
# (tests/golden), no release from a file to the ledger (tests/release), no rules of the source
# (tests/source). As they never wait, a process more than there are processors would only import and
# collect once more.
test-fast: $(VENV)/tested
	$(BIN)/python -m pytest -n auto tests/unit tests/property $(PYTEST_ARGS)

# Goes on where it was stopped: see tests/resuming.py.
test-all: $(VENV)/tested browser
	$(BIN)/python -m pytest -m "slow or not slow" -p tests.resuming $(PYTEST_ARGS)

# What failed last time, once more: sentences that changed are written into tests/snapshots.
words: $(VENV)/tested
	RECORD_WORDS=1 $(BIN)/python -m pytest -n 0 --lf $(PYTEST_ARGS)
	git diff --stat tests/snapshots

bench: $(VENV)/tested
	$(BIN)/python -m tests.benchmark $(if $(RECORD),--record)

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The files of continuous integration: their schemas, and rights that are wider than needed.
workflows: $(TOOLS)/installed
	$(TOOLS)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(TOOLS)/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(TOOLS)/bin/zizmor --offline .github

# Asks a database of known faults, over the network. --strict: what it cannot answer counts as a fault.
audit: $(TOOLS)/installed
	$(TOOLS)/bin/pip-audit --strict --require-hashes --disable-pip -r requirements.txt

# The documentation site: built, and served on this machine until it is interrupted.
docs: site
	$(DOCS)/bin/python -m http.server --bind 127.0.0.1 --directory $(DOCS)/html $(DOCS_PORT)

# Warnings are errors: a link inside that leads nowhere, a name that is not there, a notebook that fails.
SPHINX = $(DOCS)/bin/python -m sphinx --fail-on-warning --keep-going --quiet --doctree-dir $(DOCS)/doctrees
site: $(DOCS)/installed
	$(DOCS)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-index --no-build-isolation --force-reinstall .
	$(SPHINX) --builder html docs $(DOCS)/html

# Pages that anybody can open without a server, with the documentation: any file server will do.
# HOME_URL is the address at which they will be found, if it is known.
demo: $(VENV)/installed site $(if $(HOME_URL),$(VENV)/tested browser)
	$(BIN)/python -m scripts.write_demo demo --docs $(DOCS)/html $(if $(HOME_URL),--home $(HOME_URL))
	$(BIN)/python -m scripts.check_demo demo

# Follows links that lead outside, over the network.
links: site
	$(SPHINX) --builder linkcheck docs $(DOCS)/links

# Writes the exact versions and their digests, for every system and Python from 3.11 on, from the
# ranges in pyproject.toml and the names in *.in. Versions stay unless UPGRADE=1. The index is pip's.
COMPILE = UV_CUSTOM_COMPILE_COMMAND="make pins" $(UV_INDEX) $(TOOLS)/bin/uv pip compile --quiet \
  --universal --python-version 3.11 --generate-hashes $(if $(UPGRADE),--upgrade)
UV_INDEX = $(addprefix UV_DEFAULT_INDEX=,$(shell $(TOOLS)/bin/pip config get global.index-url 2>/dev/null))
pins: $(TOOLS)/installed
	$(COMPILE) pyproject.toml -o requirements.txt
	$(COMPILE) -c requirements.txt tests/requirements.in -o tests/requirements.txt
	$(COMPILE) -c requirements.txt docs/requirements.in -o docs/requirements.txt
	$(COMPILE) scripts/requirements.in -o scripts/requirements.txt

# The bill of materials and the list of licences, from what is installed.
bill: $(VENV)/installed
	$(BIN)/python scripts/bill_of_materials.py

# The wheel and the source distribution.
dist: $(TOOLS)/installed
	rm -rf dist
	$(TOOLS)/bin/python -m build

# Puts the fragments in `changes/` together, as the section of a version: `make changelog VERSION=0.13.2`.
changelog: $(TOOLS)/installed
	$(TOOLS)/bin/towncrier build --yes --version $(VERSION)

image:
	$(PYTHON) scripts/build_image.py $(IMAGE_ARGS)

.PHONY: browser
browser: $(VENV)/tested
	@$(BIN)/python scripts/find_browser.py --install

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Privacy Curves needs Python 3.11 or later; $(PYTHON) is older. Try: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: requirements.txt | $(VENV)/bin/python
	$(VENV)/$(PIP_INSTALL) -r requirements.txt
	@touch $@

$(VENV)/tested: tests/requirements.txt $(VENV)/installed
	$(VENV)/$(PIP_INSTALL) -r tests/requirements.txt
	@touch $@

$(DOCS)/installed: requirements.txt docs/requirements.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/$(PIP_INSTALL) -r requirements.txt
	$(DOCS)/$(PIP_INSTALL) -r docs/requirements.txt
	@touch $@

$(TOOLS)/installed: scripts/requirements.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/$(PIP_INSTALL) -r scripts/requirements.txt
	@touch $@

clean:
	rm -rf $(VENV) $(TOOLS) $(DOCS)
