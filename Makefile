# Every target sets up what it needs: a virtual environment with the locked versions of constraints.txt.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

.PHONY: setup
setup: $(READY) ## Set up the virtual environment

.PHONY: check
check: setup ## Judge the embedded server over real sockets
	$(BIN)/hookproof check

.PHONY: test
test: setup ## Run the tests
	$(BIN)/pytest --numprocesses 2 --dist loadgroup

.PHONY: lint
lint: setup ## Check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: lint-openapi
lint-openapi: ## Check spec/openapi.yaml with Redocly CLI (needs Node.js 20 or later)
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
	    npx --yes @redocly/cli@2.77.0 lint --extends recommended-strict spec/openapi.yaml

.PHONY: load
load: setup ## Load the embedded server for 10 seconds
	$(BIN)/hookproof load

.PHONY: lock
lock: ## Write constraints.txt anew from the newest versions that pyproject.toml allows
	rm -rf $(VENV)
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/pip freeze --exclude-editable > constraints.txt
	touch $(READY)

.PHONY: bench
bench: setup ## Measure the reference server and the load generator side by side with bare ones (needs wrk)
	$(BIN)/python -m tests.bench.api
	$(BIN)/python -m tests.bench.loading

.PHONY: torture
torture: setup ## Kill the reference server 200 times while it writes, and look for what it had acknowledged
	$(BIN)/python -m tests.mockserver.torture 200

.PHONY: flood
flood: setup ## Send 100,000 hostile requests to the reference server
	$(BIN)/python -m tests.mockserver.flood 100000
