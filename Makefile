# The lab's commands. `make` alone lists them.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.setup-done
LOCKS := requirements/cpu.txt requirements/torch-cpu.txt requirements/uv.txt
PACKAGES := pyproject.toml $(wildcard plugins/*/pyproject.toml)

.DEFAULT_GOAL := help
.PHONY: help setup demo test app lab notebooks check bench calibrate suffix lock clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## Make .venv with everything in it (once; again when a lock file changes)

$(STAMP): $(LOCKS) $(PACKAGES)
	$(PYTHON) requirements/setup_venv.py

demo: setup ## From nothing to a measured table: set-up, model, a quick run of the real engine
	$(BIN)/labkit models fetch
	@# 3: an arm was refused here, the others were measured and the table says so.
	$(BIN)/labkit run quick || [ $$? -eq 3 ]
	@echo
	@echo "The run is the newest folder in $${LABKIT_RUNS:-runs}/ (labkit runs lists them all)."
	@echo "Next: 'make app' opens the dashboard, 'make lab' the notebooks."

test: setup ## Run all the tests: two at a time what needs no engine, then the rest one by one
	$(BIN)/pytest -n 2 --dist loadfile -m "not engine and not alone"
	$(BIN)/pytest -m "engine or alone"

app: setup ## Open the dashboard
	$(BIN)/streamlit run app

lab: setup ## Open the notebooks in JupyterLab, on this machine only
	@# Jupyter refuses root, who is all there is in many containers, unless told.
	$(BIN)/jupyter lab --ip=127.0.0.1 --notebook-dir=notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

notebooks: setup ## Write the notebooks' .ipynb again: their text, with the outputs of the runs in data/runs
	$(BIN)/python notebooks/tools/outputs.py

check: setup ## Format, lint, types, import directions
	@echo "== ruff format"
	@$(BIN)/ruff format --check
	@echo "== ruff check"
	@$(BIN)/ruff check
	@echo "== mypy"
	@$(BIN)/mypy
	@echo "== lint-imports"
	@$(BIN)/lint-imports

bench: setup ## Run the benchmarks
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

calibrate: setup ## Prove the intervals by simulation: docs/calibration.md and its figures
	$(BIN)/python benchmarks/calibrate.py

suffix: setup ## Build suffix decoding, an optional drafter: labkit run quick --spec-method suffix
	$(BIN)/pip install --no-deps cmake nanobind==2.9.2 grpcio-tools ninja
	$(BIN)/pip install --no-deps --no-build-isolation arctic-inference==0.1.1

lock: setup ## Write the lock again from requirements/cpu.in
	$(BIN)/python requirements/lock.py

clean: ## End the engines that are up, then remove .venv and caches (runs and models stay)
	@if [ -x $(BIN)/labkit ]; then $(BIN)/labkit down --all || echo "Engines may still be up: see ps -e"; fi
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache *.egg-info plugins/*/*.egg-info plugins/*/build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
