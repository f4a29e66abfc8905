# Everything runs inside a virtual environment that the first target makes; `make help` lists the targets.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
ARGS ?=
DATA ?=
# Tests write many small files and wait for each: into memory, where it has room for them and may hold programs.
MEMORY := $(shell grep -qs ' /dev/shm .*noexec' /proc/mounts || df -Pm /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 8000 { print $$6 }')
# Three processes for two cores (tests/conftest.py), each with whole files of tests: many share a build or a server. The
# longest files come first. What tests start by the hundred is compiled once, also where the environment says otherwise.
PYTEST := TMPDIR=$(or $(TMPDIR),$(MEMORY)) PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help install build-wikisum serve docs pictures lint types quick test test-all benchmarks year mutants lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 18

install: $(VENV)/.runtime ## virtual environment with the locked packages

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11, 5) else f"Python >= 3.11.5 is needed, {sys.executable} is {sys.version.split()[0]}: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# torch comes last: what it needs on every machine is then there, from files whose hashes are known. `pip check` finds
# what the lock lacks.
$(VENV)/.runtime: requirements.lock requirements-torch.lock pyproject.toml | $(VENV)/.python
	$(PIP) --no-deps --require-hashes -r requirements.lock
	$(PIP) -r requirements-torch.lock
	$(PIP) --no-deps --editable .
	@$(BIN)/pip check --disable-pip-version-check
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(PIP) --no-deps --require-hashes -r requirements-dev.lock
	@$(BIN)/pip check --disable-pip-version-check
	@touch $@

build-wikisum: $(VENV)/.runtime ## build the corpus, train and evaluate; settings in ARGS='--source.miniweb.topics 1000'
	$(BIN)/wikisum build $(ARGS)

serve: $(VENV)/.runtime ## Prefect server, deployments, a worker, a page for summaries; ARGS='--port 4300', DATABASE_URL for PostgreSQL
	@exec $(BIN)/wikisum serve $(ARGS)

docs: $(VENV)/.dev ## the reference pages and the site, in build/site
	$(BIN)/python -m docs.reference
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

pictures: $(VENV)/.dev ## the pictures of the docs, from the running product; needs Chromium; an hour on two cores
	$(BIN)/python -m docs.pictures --work build/pictures $(ARGS)

lint: $(VENV)/.dev ## ruff: style, imports, docstrings, formatting; deptry: packages imported and not declared, or not used
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/deptry .
	$(BIN)/deptry . --exclude '^(build|$(VENV))/' --ignore DEP002,DEP004

types: $(VENV)/.dev ## mypy, strict
	$(BIN)/mypy

quick: lint types ## lint, types and unit tests: after every change
	$(PYTEST) -q --dist worksteal -m "not slow and not integration" $(ARGS)

test: lint types ## what CI runs: lint, types and the tests that take minutes at most
	$(PYTEST) -m "not slow" $(ARGS)

test-all: lint types ## every test, faults and full tables included
	$(PYTEST) $(ARGS)

# One that misses its goal (status 1) stops none of the others; their names come at the end.
benchmarks: $(VENV)/.dev ## every figure we claim, each beside its peer; DATA=folder for those that need real pages
	@missed=; measure() { echo "== $$*"; $(BIN)/python -m benchmarks."$$@" || missed="$$missed $$1"; }; \
	for name in labels crawl columnar_index summarize training \
	  stages orchestration; do measure $$name; done; \
	measure gpu --device cpu --scale core --minutes 20; measure gpu --device cpu --scale small --parts decoding; \
	test -z "$(DATA)" || { measure extraction "$(DATA)/extraction"; measure rights "$(DATA)/extraction/html"; measure mirrors "$(DATA)/wikigraph"; \
	  measure verifiers "$(DATA)" --count 100; \
	  $(BIN)/wikisum corpus --preset records --root build/wikigraph --source.records.paths "$(DATA)/wikigraph/articles.jsonl" \
	    --crawl.archive "$(DATA)/wikigraph/pages.warc.gz" \
	    && measure extractors build/wikigraph --papers "$(DATA)/scisummnet_mds.jsonl.gz"; }; \
	test -z "$$missed" || { echo "a goal was missed, or the benchmark failed:$$missed"; exit 1; }

year: $(VENV)/.dev ## 52 weekly retrainings with faults drawn by seed, in build/year; one to two hours; ARGS='--weeks 12'
	$(BIN)/python -m benchmarks.year build/year $(ARGS)

mutants: $(VENV)/.dev ## how many small faults the tests notice, by chance; an hour; ARGS='--group storage --draw 10'
	$(PIP) --editable ".[mutants]"
	$(BIN)/python -m tests.mutants $(ARGS)

lock: ## resolve the locks anew, in throw-away environments
	./.ci/lock $(PYTHON)

clean: ## remove the virtual environment and caches; data stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache *.egg-info
