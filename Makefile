# Two commands set everything up on a machine with Python 3.11 or later: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
# Progress and pip's chatter stay out of the way; errors do not.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Tests go to one process a core, in their order; one that is done takes over tests of another.
PARALLEL := --numprocesses auto --dist worksteal
# Otherwise each of hundreds of processes compiles nymlink again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo serve screenshots test test-large coverage lint types docs dist clean

demo: .venv/.installed
	@$(BIN)/nymlink link --file examples/phenotypes.txt --format table

# The pages, with the Human Phenotype Ontology, a list of names and a table to review.
serve: .venv/.installed-serve .venv/projects/findings.nymlink
	@$(BIN)/python -c 'import sys, urllib.parse as url; text = open("examples/phenotypes.txt").read(); \
		print("examples/findings.csv to review: http://127.0.0.1:8000/table/findings", file=sys.stderr); \
		print("examples/phenotypes.txt on the page: http://127.0.0.1:8000/names?text=" + url.quote(text), file=sys.stderr)'
	@$(BIN)/nymlink serve --open --projects .venv/projects

.venv/projects/findings.nymlink: | .venv/.installed-serve
	@$(BIN)/nymlink project new $@ --title "Findings of a clinic"
	@$(BIN)/nymlink project add $@ examples/findings.csv

# Pictures of the pages for the documentation.
screenshots: .venv/.installed-dev .venv/.chromium
	$(BIN)/python docs/screenshots.py

test: .venv/.installed-dev
	$(BIN)/python -m pytest $(PARALLEL) -m 'not large'

test-large: .venv/.installed-dev .venv/.chromium
	$(BIN)/python -m pytest $(PARALLEL) -m large

# A test that fails does not keep the table from being shown.
coverage: .venv/.installed-dev .venv/.chromium
	-$(BIN)/python -m pytest $(PARALLEL) --cov --cov-report=html --cov-report=json
	@$(BIN)/python .ci/coverage_by_room.py

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.installed-dev
	$(BIN)/mypy

# A warning (a link that leads nowhere, a name without a docstring) is an error.
docs: .venv/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

.venv/.installed: pyproject.toml
	@$(PYTHON) -m venv .venv
	@$(PIP) install --editable '.[hpo]'
	@touch $@

.venv/.installed-serve: .venv/.installed
	@$(PIP) install --editable '.[hpo,serve]'
	@touch $@

# Torch first and by itself: left to a dependency's range, pip takes a build with gigabytes of CUDA.
.venv/.installed-dev: .venv/.installed
	@$(PIP) install torch==2.13.0
	@$(PIP) install --editable '.[frame,hpo,serve,train,plot,dev]'
	@touch $@

.venv/.chromium: | .venv/.installed
	@.ci/chromium
	@touch $@

.venv/.installed-docs: .venv/.installed
	@$(PIP) install --editable '.[docs,serve]'
	@touch $@

# Wheels and sdists, looked into and installed by themselves.
dist: .venv/.installed-dev
	$(BIN)/python .ci/distributions.py

clean:
	rm -rf .venv .pytest_cache build dist site htmlcov .coverage*
