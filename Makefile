# Two commands matter: `make run` opens the dashboard, `make test` checks everything.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ADDRESS ?= 127.0.0.1
PORT ?= 8501
PYTEST_ARGS ?=

# More BLAS threads cost nine times the processor time here, for nothing.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: run test test-fast test-all bench lint audit clean

run: $(VENV)/installed
	$(BIN)/streamlit run app.py --server.address $(ADDRESS) --server.port $(PORT)

test: $(VENV)/tested browser
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# Units and properties alone: no page, no browser, no statistics.
test-fast: $(VENV)/tested
	$(BIN)/python -m pytest tests/unit tests/property $(PYTEST_ARGS)

test-all: $(VENV)/tested browser
	$(BIN)/python -m pytest -m "slow or not slow" $(PYTEST_ARGS)

bench: $(VENV)/tested
	$(BIN)/python -m tests.benchmark $(if $(RECORD),--record)

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/mypy engine

# Asks a database of known faults, over the network. --strict: what it cannot answer counts as a fault.
audit:
	$(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	$(VENV)-audit/bin/pip-audit --strict --no-deps --disable-pip -r requirements.txt

.PHONY: browser
browser: $(VENV)/tested
	@$(BIN)/python scripts/find_browser.py --install

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Privacy Curves needs Python 3.11 or later; $(PYTHON) is older. Try: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: requirements.txt | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/tested: tests/requirements.txt $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-audit
