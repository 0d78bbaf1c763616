# Everything a fresh machine needs: `make demo` shows earmark at work, `make test` checks all of it.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test lint slow fuzz bench bench-web docs clean
.DELETE_ON_ERROR:

demo: $(VENV)/.demo
	$(BIN)/earmark demo

test: $(VENV)/.test $(VENV)/.browser lint
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Checks and studies that take longer than a test should.
slow: $(VENV)/.test $(VENV)/.browser $(VENV)/.webkit
	$(BIN)/python -m pytest -m slow

# Broken files and odd options, 20,000 of them: ten minutes or so. FUZZ='--seed 1' runs others.
fuzz: $(VENV)/.test
	$(BIN)/python -m fuzz $(FUZZ)

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.evaluate
	$(BIN)/python -m benchmarks.ordinal
	$(BIN)/python -m benchmarks.simulate

# Assessors at once over real sockets, on SQLite and on PostgreSQL: some twelve minutes.
bench-web: $(VENV)/.test
	$(PIP) install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.web.load

# The pages, into site/index.html: open it in a browser, no server is needed.
docs: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("earmark needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

# Pins live in constraints.txt: the versions all of this was checked with.
$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	@echo 'Setting up $(VENV); the first time takes a minute or two.'
	$(PIP) install --quiet --constraint constraints.txt --editable '.[all]'
	touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install --quiet --constraint constraints.txt --editable '.[all,test,docs]'
	touch $@ $(VENV)/.demo

# The tests of the web app drive a real browser: one that is there, else Debian's, else Playwright's own.
$(VENV)/.browser: $(VENV)/.test
	$(BIN)/python tests/browser/browsers.py
	touch $@

# WebKit, the engine of Safari, is tested by 'make slow': Debian's, installed where that is allowed.
$(VENV)/.webkit: $(VENV)/.test
	$(BIN)/python tests/browser/webkit.py
	touch $@
