# Two commands do everything: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test check bench endurance docs screenshots clean

demo: $(VENV)/.runtime
	@$(BIN)/ragnostic demo --out demo-runs

test: demo $(VENV)/.dev
	@scripts/system-packages
	@scripts/check

check: $(VENV)/.dev
	@scripts/check

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/score.py
	$(BIN)/python benchmarks/startup.py

endurance: $(VENV)/.dev
	@scripts/endurance

docs: $(VENV)/.dev
	$(BIN)/python scripts/generate-docs

screenshots: $(VENV)/.dev
	$(BIN)/python scripts/screenshot

$(VENV)/bin/python:
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements/runtime.lock pyproject.toml | $(VENV)/bin/python
	@echo "installing from requirements/runtime.lock"
	@$(PIP) --require-hashes -r requirements/runtime.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.runtime
	@echo "installing from requirements/dev.lock"
	@$(PIP) --require-hashes -r requirements/dev.lock
	@touch $@

$(VENV)/.bench: requirements/bench.lock $(VENV)/.dev
	@echo "installing from requirements/bench.lock"
	@$(PIP) --require-hashes -r requirements/bench.lock
	@touch $@

clean:
	rm -rf $(VENV) demo-runs build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
