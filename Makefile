# The two commands that matter: make demo, make test.  Both set up everything in .venv.

PYTHON ?= python3
BIN := .venv/bin
SETUP := .venv/.installed

export COHMM_DATA ?= $(if $(wildcard ../shared/data),$(abspath ../shared/data))

.PHONY: help demo test browser lint bench docs clean

help:
	@echo "make demo   write documents on known topics, find the topics again, and a report to look at"
	@echo "make test   linters, types, layers and all tests"
	@echo "make lint   linters, types and layers alone"
	@echo "make bench  speed and memory, side by side with peers"
	@echo "make docs   the guide, as a site that is read without a network: site/index.html"
	@echo "make clean  remove .venv and everything that was made"

$(SETUP): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "cohmm needs Python 3.11 or newer; $(PYTHON) was not found"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "cohmm needs Python 3.11 or newer; $(PYTHON) is older (make PYTHON=/path/to/python3.11)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv module: install it (Debian: apt-get install python3-venv)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $@

demo: $(SETUP)
	@$(BIN)/cohmm demo

test: lint browser
	$(BIN)/python -m pytest -n auto

# A browser for the tests of the report: Debian's own, where it may be installed.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	|| command -v google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	     && { apt-get install -qq -y --no-install-recommends chromium >/dev/null 2>&1 \
	          || { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; }; }; } \
	|| echo "there is no Chromium, so tests of the report in a browser are skipped (Debian: apt-get install chromium)"

lint: $(SETUP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --verbose

bench: $(SETUP)
	$(BIN)/python benchmarks/inference.py

# A warning is an error: a link that leads nowhere, a page that is in no list, a docstring that does not parse.
docs: $(SETUP)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -d build/doctrees docs site
	@echo "the guide is in site/index.html"

# The pictures and the output on the gallery's pages, from real data (COHMM_DATA): some minutes.
.PHONY: gallery
gallery: $(SETUP)
	$(BIN)/python docs/gallery.py

clean:
	rm -rf .venv cohmm-demo build site
	find . -name __pycache__ -prune -exec rm -rf {} +
