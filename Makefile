# The two commands that matter: make demo, make test.  Both set up what they need in .venv.

PYTHON ?= python3
BIN := .venv/bin
CORE := .venv/.core
ALL := .venv/.all
BUILT := .venv/.native
NATIVE := CMakeLists.txt $(wildcard src/cohmm/_native/*)
LOG := .venv/pip.log
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
STRICT := --config-settings=cmake.define.COHMM_WERROR=ON

export COHMM_DATA ?= $(if $(wildcard ../shared/data),$(abspath ../shared/data))

.PHONY: help demo test native browser java lint sanitize fuzz bench docs clean

help:
	@echo "make demo   write documents on known topics, find the topics again, and a report to look at"
	@echo "make test   linters, types, layers and all tests"
	@echo "make soak   signals, full and read-only disks and rival writers, against every command that writes"
	@echo "make lint   linters, types and layers alone"
	@echo "make native compile what has changed in C++"
	@echo "make sanitize  tests of kernels and models, and a minute of fuzzing, with the sanitizers of C++"
	@echo "make bench  speed and memory, side by side with peers"
	@echo "make fuzz   call everything with input that nobody would give, for MINUTES=30"
	@echo "make docs   the guide, as a site that is read without a network: site/index.html"
	@echo "make clean  remove .venv and everything that was made"

# Two installations at once would spoil .venv.
.NOTPARALLEL:

# $(1): what is set up, $(2): how long it takes, $(3): the commands, silent unless they fail.
define set_up
	@command -v $(PYTHON) >/dev/null || { echo "cohmm needs Python 3.11 or newer; $(PYTHON) was not found"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "cohmm needs Python 3.11 or newer; $(PYTHON) is older (make PYTHON=/path/to/python3.11)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv module: install it (Debian: apt-get install python3-venv)"; exit 1; }
	@echo "setting up $(1) in .venv ($(2), once)"
	@rm -f $@
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv || { echo "there is a broken .venv: make clean, then try again"; exit 1; }
	@sh tools/compiler.sh $(BIN)/python >.venv/compiler
	@{ export CXX="$$(cat .venv/compiler)"; $(3); } >$(LOG) 2>&1 || { cat $(LOG); exit 1; }
endef

# Modules are compiled when they are first imported: most never are, and compiling all takes half of the time.
$(CORE): pyproject.toml
	$(call set_up,cohmm,about a minute,$(PIP) --no-compile --editable .)
	@touch $(BUILT) $@

# What the core left uncompiled is compiled here: a warning of the compiler would be an error in a test.
$(ALL): pyproject.toml
	$(call set_up,cohmm and all that its tests need,about three minutes,$(BUILD_TOOLS) && $(PIP) --no-build-isolation $(STRICT) --editable '.[all]')
	@$(BIN)/python -m compileall -qq -j 0 .venv/lib || true
	@touch $(CORE) $(BUILT) $@

# What the build needs stays in .venv, so that the next build finds all as it was, and compiles only what has changed.
# (pyspark comes as source alone, and needs setuptools and wheel to be built.)
BUILD_TOOLS = $(PIP) cmake ninja nanobind scikit-build-core 'setuptools>=70.1' wheel

$(BUILT): $(NATIVE) | $(CORE)
	@echo "compiling what has changed in C++"
	@{ export CXX="$$(cat .venv/compiler)"; \
	   $(PIP) --no-deps $$(test -e $(ALL) && echo "--no-build-isolation $(STRICT)") --editable .; } >$(LOG) 2>&1 \
	|| { cat $(LOG); exit 1; }
	@touch $@

native: $(ALL) $(BUILT)

demo: $(CORE) $(BUILT)
	@$(BIN)/cohmm demo

test: lint browser java
	@# One process per core, so one thread of BLAS in each.
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

# A browser for the tests of the report: Debian's own, where it may be installed.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	|| command -v google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	     && { apt-get install -qq -y --no-install-recommends chromium >/dev/null 2>&1 \
	          || { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; }; }; } \
	|| echo "there is no Chromium, so tests of the report in a browser are skipped (Debian: apt-get install chromium)"

# Java for the tests of Spark, which runs on 17 and 21: Debian's own, where it may be installed.
APT := apt-get install -qq -y --no-install-recommends
java:
	@command -v java >/dev/null || { [ "$$JAVA_HOME" ] && [ -x "$$JAVA_HOME/bin/java" ]; } \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	     && { $(APT) openjdk-17-jre-headless >/dev/null 2>&1 \
	          || { apt-get update -qq && { $(APT) openjdk-17-jre-headless || $(APT) openjdk-21-jre-headless; } >/dev/null 2>&1; }; }; } \
	|| echo "there is no Java, so tests of Spark are skipped (Debian: apt-get install openjdk-17-jre-headless)"

KERNELS := $(filter-out %/module.cpp,$(wildcard src/cohmm/_native/*.cpp))
lint: $(ALL) $(BUILT)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --verbose
	$(BIN)/clang-format --dry-run --Werror $(wildcard src/cohmm/_native/*.?pp)
	$(BIN)/clang-tidy --quiet $(KERNELS) -- -std=c++20 -O3 -march=native -DCOHMM_LEVEL=checked

# A build of its own, in an environment of its own that has the packages of .venv.  What Python itself leaks is
# of no interest; the C++ library is there from the start, so that exceptions can be followed.
SANITIZED := build/sanitized
CHECKED := tests/kernels tests/model
sanitize: $(ALL)
	@$(BIN)/python -m venv --without-pip $(SANITIZED)/venv
	@$(BIN)/python -c 'import sys; print(*(path for path in sys.path if path.endswith("-packages")), sep="\n")' \
	    >"$$(echo $(SANITIZED)/venv/lib/python*/site-packages)/others.pth"
	CXX="$$(cat .venv/compiler)" $(SANITIZED)/venv/bin/python -m pip --disable-pip-version-check install --quiet --no-deps \
	    --no-build-isolation --config-settings=build-dir=$(SANITIZED)/objects \
	    --config-settings=cmake.define.COHMM_SANITIZE=ON --editable .
	export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 OPENBLAS_NUM_THREADS=1; \
	LD_PRELOAD="$$($$(cat .venv/compiler) -print-file-name=libasan.so) $$($$(cat .venv/compiler) -print-file-name=libstdc++.so)"; \
	export LD_PRELOAD; \
	$(SANITIZED)/venv/bin/python -m pytest -n auto --dist worksteal $(CHECKED) \
	&& $(SANITIZED)/venv/bin/python -m tests.fuzz.run --minutes 1

# atheris finds inputs that reach new lines; without it they are random.
MINUTES ?= 30
fuzz: $(ALL) $(BUILT)
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(PIP) atheris >$(LOG) 2>&1 || echo "atheris cannot be installed here: inputs are random"
	$(BIN)/python -m tests.fuzz.run --minutes $(MINUTES)

bench: $(ALL) $(BUILT)
	$(BIN)/python benchmarks/inference.py

.PHONY: soak
soak: $(ALL) $(BUILT)
	$(BIN)/python -m tests.soak.soak
	$(BIN)/python -m tests.soak.resume

# A warning is an error: a link that leads nowhere, a page that is in no list, a docstring that does not parse.
docs: $(ALL) $(BUILT)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -d build/doctrees docs site
	@echo "the guide is in site/index.html"

# The pictures and the output on the gallery's pages, from real data (COHMM_DATA): some minutes.
.PHONY: gallery
gallery: $(ALL) $(BUILT)
	$(BIN)/python docs/gallery.py

clean:
	rm -rf .venv cohmm-demo build site
	find . -name __pycache__ -prune -exec rm -rf {} +
