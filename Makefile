# Needs make and Python 3.11 or newer; everything else is installed into .venv by the targets themselves.

PYTHON ?= python3
DEMO_ARGS ?= --rounds 100
BENCH_ARGS ?=
KAFKA_BENCH_ARGS ?=
SOAK_ARGS ?=
# single: one Kafka and one ClickHouse; cluster: three and two.
LAYOUT ?= single
# Tests keep to their own folders, so files may run side by side; a file stays in one process.
PYTEST_WORKERS ?= 2

BIN := .venv/bin
# The command's smallest installation, or the developers' where that is there already.
RUNNABLE := $(or $(wildcard .venv/.dev),.venv/.embedded)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint bench soak up down constraints clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(RUNNABLE) ## Run a simulated floor on this machine (DEMO_ARGS="...")
	@$(BIN)/pitwatch demo $(DEMO_ARGS)

test: lint ## Run the linters, then every test and the coverage gate
	@$(BIN)/pytest -n $(PYTEST_WORKERS) --dist loadfile --cov

lint: .venv/.dev ## Check style, layout and types
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

bench: .venv/.bench .venv/quix/.ready ## Measure side by side, in one run (BENCH_ARGS="...", KAFKA_BENCH_ARGS="...")
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)
	@$(BIN)/python -m benchmarks.kafka $(KAFKA_BENCH_ARGS)
	@$(BIN)/python -m benchmarks.kafka_rates
	@$(BIN)/python -m benchmarks.streams
	@$(BIN)/python -m benchmarks.sizing

soak: .venv/.dev ## Play a floor for ten minutes while everything is killed at random (SOAK_ARGS="...")
	@$(BIN)/python -m tests.simulation.soak $(SOAK_ARGS)

up: ## Start servers, workers and Grafana in containers (LAYOUT=single or cluster)
	@$(PYTHON) deploy/make_env.py --layout $(LAYOUT) .env
	@docker compose up --detach --build --wait
	@echo "Grafana: http://127.0.0.1:3000 (user admin, GRAFANA_ADMIN_PASSWORD in .env); gateway: http://127.0.0.1:8600"

down: ## Stop the containers; what they keep stays
	@docker compose down --remove-orphans

constraints: ## Resolve every package anew into constraints.txt
	@rm -rf build/resolve && $(PYTHON) -m venv build/resolve
	@build/resolve/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@{ sed -n '/^#/p' constraints.txt; build/resolve/bin/python -m pip freeze --exclude-editable; } > build/constraints.txt
	@mv build/constraints.txt constraints.txt && rm -rf build/resolve

clean: ## Remove the environment, caches and reports; a floor's data stays
	@rm -rf .venv build dist htmlcov .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of extras: .venv/.embedded, .venv/.dev
.venv/.%: pyproject.toml constraints.txt $(BIN)/python
	@echo "installing pitwatch[$*] into .venv (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[$*]'
	@touch $@

# Quix Streams takes no client as new as ours.
.venv/quix/.ready: benchmarks/constraints-quix.txt $(BIN)/python
	@echo "installing Quix Streams into .venv/quix"
	@$(PYTHON) -m venv --clear .venv/quix
	@.venv/quix/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/constraints-quix.txt
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "pitwatch needs Python 3.11 or newer, and $(PYTHON) is not. Name another: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { \
	    echo "$(PYTHON) cannot make environments. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PYTHON) -m venv --clear .venv
