# A target that needs the virtual environment sets it up, with the versions locked in
# constraints.txt.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Most of the time of a test is waiting: for a window, a time-out, a process that starts.
WORKERS := $(shell expr 3 \* `getconf _NPROCESSORS_ONLN`)

.DEFAULT_GOAL := help

# Tests start hundreds of processes: without bytecode each would compile the sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

.PHONY: setup
setup: $(READY) ## Set up the virtual environment
	@test -d conformance || echo "links could not be made here: find conformance, load, mockserver," \
	    "receiver and spec in hookproof/"

.PHONY: check
check: setup ## Check the embedded server over real sockets
	$(BIN)/hookproof check

.PHONY: test
test: setup ## Run the tests that take no more than a second, and one of each longer kind
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadgroup -m "not long"

.PHONY: test-all
test-all: setup ## Run all tests, and show which took longest, and what each folder took
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadgroup --durations 20 --durations-min 1

.PHONY: record-long-tests
record-long-tests: setup ## Run all tests, and write into tests/long_tests.txt which `make test` leaves out
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadgroup --record-long-tests

.PHONY: lint
lint: setup ## Check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# With --quiet mkdocs would count no warning, and --strict would let every one pass.
.PHONY: docs
docs: setup ## Build the documentation as a site in build/site; fails on links that lead nowhere
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --config-file docs/site/mkdocs.yml

.PHONY: lint-openapi
lint-openapi: ## Check spec/openapi.yaml with Redocly CLI (needs Node.js 20 or later)
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
	    npx --yes @redocly/cli@2.77.0 lint --extends recommended-strict hookproof/spec/openapi.yaml

# Pinned: another version of a generator may type less, or more.
.PHONY: client-tools
client-tools: ## Install what tests/clients tries: clients, their generators, a proxy, verifiers
	python3 -m venv .clients
	.clients/bin/pip install --quiet --disable-pip-version-check \
	    openapi-python-client==0.29.1 convoy-python==0.2.0
	npm install --prefix .clients --silent --ignore-scripts --no-audit --no-fund --no-package-lock \
	    openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 @stoplight/prism-cli@5.14.2 \
	    standardwebhooks@1.1.1 svix@1.99.1 ctrf@0.3.0
	if command -v go > /dev/null; then cd tests/clients/convoy_go && \
	    go build -o ../../../.clients/bin/convoy-go .; fi

.PHONY: image-replay
image-replay: setup ## Replay Dockerfile and compose.yaml in a new root, without Docker (needs root and debootstrap)
	$(BIN)/python -m tests.ci.image_replay

.PHONY: load
load: setup ## Load the embedded server for 10 seconds
	$(BIN)/hookproof load

.PHONY: load-million
load-million: setup ## Load the embedded server with a million deliveries and watch memory
	$(BIN)/python -m tests.bench.million

.PHONY: knee
knee: setup ## Search the knee of the embedded server, and confirm it by runs at fixed rates
	$(BIN)/python -m tests.bench.knee

.PHONY: lock
lock: ## Update constraints.txt to the newest versions that pyproject.toml allows
	rm -rf $(VENV)
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/pip freeze --exclude-editable > constraints.txt
	touch $(READY)

.PHONY: mutants
mutants: setup ## Test the suites against every mutant and conforming variant; record the kills
	$(BIN)/hookproof mutants --record

.PHONY: mutants-quick
mutants-quick: setup ## Test the suites against the first fault that each check kills
	$(BIN)/hookproof mutants --quick --jobs 8

# Another sample each time; the first line names its seed.
SEED ?= $(shell date +%s)

.PHONY: mutants-generated
mutants-generated: setup ## Test the suites against a random sample of 300 faults by operators (takes 40 minutes)
	$(BIN)/hookproof mutants --generated 300 --seed $(SEED)

.PHONY: mutants-compound
mutants-compound: setup ## Test the suites against 100 servers with three faults by operators (takes 30 minutes)
	$(BIN)/hookproof mutants --generated 100 --compound 3 --seed $(SEED)

.PHONY: hiding
hiding: setup ## Measure what one fault, or two, keep the suites from seeing (takes two hours)
	$(BIN)/hookproof mutants --hiding --record

.PHONY: mutants-stock
mutants-stock: setup ## Run plain schemathesis against the mutants (takes about an hour)
	$(BIN)/hookproof mutants --schemathesis-baseline

.PHONY: bench
bench: setup ## Measure server, deliveries, receiver, load generator and suites (needs wrk)
	$(BIN)/python -m tests.bench.api
	$(BIN)/python -m tests.bench.deliveries
	$(BIN)/python -m tests.bench.clients
	$(BIN)/python -m tests.bench.receiving
	$(BIN)/python -m tests.bench.bisecting
	$(BIN)/python -m tests.bench.loading
	$(BIN)/python -m tests.bench.leading
	$(BIN)/python -m tests.bench.witnessing
	$(BIN)/python -m tests.bench.checking

# BASE is a copy of what an earlier `make bench` has kept.
.PHONY: bench-compare
bench-compare: setup ## Compare what benchmarks kept in hookproof-bench-rounds.json with BASE=FILE
	$(BIN)/python -m tests.bench.compare $(BASE)

.PHONY: backlog
backlog: setup ## Hand a million pending deliveries to the reference server and watch its memory
	$(BIN)/python -m tests.bench.backlog

.PHONY: flake
flake: setup ## Run the quick profile 30 times, three of them under load, and compare the verdicts
	$(BIN)/python -m tests.conformance.flake 30

.PHONY: net
net: setup ## Make about sixty runs in build/net, by which two checkouts are compared
	$(BIN)/python -m tests.conformance.net.command make build/net

.PHONY: random-dialects
random-dialects: setup ## Judge clean servers under 20 dialects that are drawn at random, and 20 known in part
	$(BIN)/python -m tests.conformance.random_dialects 20
	$(BIN)/python -m tests.conformance.random_dialects 20 --known partly

.PHONY: learn-all
learn-all: setup ## Learn the shipped dialects and 40 random ones, undisturbed and disturbed (takes two hours)
	$(BIN)/python -m tests.conformance.learn_all 40 --judge
	$(BIN)/python -m tests.conformance.learn_all 0 --disturbed

.PHONY: learn-mutants
learn-mutants: setup ## Learn servers with 40 faults, and see whether check still detects them (takes an hour)
	$(BIN)/python -m tests.conformance.learn_mutants 40

.PHONY: strangers
strangers: setup ## Learn and judge services written from the document alone, clean and with bugs (takes five hours)
	$(BIN)/python -m tests.strangers.flow

.PHONY: torture
torture: setup ## Kill the reference server as it writes and delivers; look for lost data
	$(BIN)/python -m tests.mockserver.store.kill_during_writes 200
	$(BIN)/python -m tests.mockserver.store.kill_during_deliveries 50

.PHONY: kills
kills: setup ## Stop commands by 100 signals at random moments; look for what is left
	$(BIN)/python -m tests.process.kills 100

.PHONY: hostile
hostile: setup ## Run check, doctor, learn and load against every hostile target
	$(BIN)/python -m tests.conformance.run.hostile_targets

.PHONY: flood
flood: setup ## Send 100,000 hostile requests to the reference server
	$(BIN)/python -m tests.mockserver.api.request_flood 100000

.PHONY: tamper
tamper: setup ## Tamper with 1,000,000 signed messages, and check that the verifier accepts none
	$(BIN)/python -m tests.receiver.signatures.tamper 1000000

.PHONY: bench-bisect
bench-bisect: setup ## Measure the search for the cause of a bad signature
	$(BIN)/python -m tests.bench.bisecting
