# Works from a fresh checkout with Python 3.11 or later, make, git and pip; everything else goes into $(VENV).
PYTHON ?= python3
VENV ?= .venv
CORES ?= all
READY = $(VENV)/.ready
RUN = PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
ifneq ($(filter /%,$(VENV)),)
RUN = PATH="$(VENV)/bin:$$PATH"
endif

.PHONY: help install test lint format ci-figures claims report FORCE
.DEFAULT_GOAL := help

help:
	@echo "make figures/fig4.pdf      build a figure (any path under figures/ or results/)"
	@echo "make figures/ci/fig4.pdf   the same at the small scale"
	@echo "make test                  run the tests"
	@echo "make install               only make the environment in $(VENV)"
	@echo "make lint | format         check or mend the style of the code"
	@echo "make ci-figures            every figure at the small scale"
	@echo "make report                everything, as one folder to read: report/paper/index.html"
	@echo "make report-ci             the same at the small scale"

install: $(READY)

$(READY): pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $(READY)

figures/% results/%: $(READY) FORCE
	$(RUN) snakemake --cores $(CORES) -- $@

ci-figures: $(READY)
	$(RUN) snakemake --cores $(CORES) -- all_ci

report: $(READY)
	$(RUN) snakemake --cores $(CORES) -- report

report-%: $(READY) FORCE
	$(RUN) snakemake --cores $(CORES) -- report_$*

claims: $(READY)
	$(RUN) onset claims

test: $(READY)
	$(RUN) python -m pytest -q

lint: $(READY)
	$(RUN) ruff check src tests benchmarks
	$(RUN) ruff format --check src tests benchmarks
	$(RUN) snakefmt --check Snakefile workflow
	$(RUN) mypy

format: $(READY)
	$(RUN) ruff check --fix src tests benchmarks
	$(RUN) ruff format src tests benchmarks
	$(RUN) snakefmt Snakefile workflow

FORCE:
