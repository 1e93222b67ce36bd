# A target that needs the virtual environment sets it up, with the versions locked in
# constraints.txt.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Most of the time of a test is waiting: for a window, a time-out, a process that starts.
WORKERS := $(shell expr 3 \* `getconf _NPROCESSORS_ONLN`)
# So is most of what a mutant takes.
MUTANTS_AT_ONCE := $(shell expr 2 \* `getconf _NPROCESSORS_ONLN`)

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

.PHONY: test-failed
test-failed: setup ## Run the tests that failed last once more, one after the other
	$(BIN)/pytest --last-failed --last-failed-no-failures none -rA

.PHONY: record-long-tests
record-long-tests: setup ## Run all tests, and write into tests/long_tests.txt which `make test` leaves out
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadgroup --record-long-tests

.PHONY: lint
lint: setup ## Check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: docs
docs: setup ## Build the documentation as a site in build/site; fails on links that lead nowhere
	rm -rf build/site
	$(BIN)/python -m docs.site.pages build
	$(BIN)/zensical build --strict --clean --config-file build/mkdocs.yml

.PHONY: lint-openapi
lint-openapi: ## Check spec/openapi.yaml with Redocly CLI (needs Node.js 20 or later)
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
	    npx --yes @redocly/cli@2.77.0 lint --extends recommended-strict hookproof/spec/openapi.yaml

# Pinned: another version of a generator may type less, or more.
.PHONY: client-tools
client-tools: ## Install what tests/clients tries: clients, their generators, a proxy, verifiers
	python3 -m venv .clients
	.clients/bin/pip install --quiet --disable-pip-version-check \
	    openapi-python-client==0.29.1 convoy-python==0.2.0 stripe==16.1.0 twilio==9.13.0 \
	    slack_sdk==3.48.0 svix==2.9.1 standardwebhooks==1.1.0 discord-interactions==0.4.0 \
	    line-bot-sdk==3.27.0 razorpay==2.0.1 Adyen==16.0.0 sendgrid==6.12.5 \
	    paddle-python-sdk==1.16.1 squareup==46.0.0.20260916 workos==10.8.0 pusher==3.3.4 \
	    gidgethub==6.0.0 hubspot-api-client==12.0.0
	npm install --prefix .clients --silent --ignore-scripts --no-audit --no-fund --no-package-lock \
	    openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 @stoplight/prism-cli@5.14.2 \
	    standardwebhooks@1.1.1 svix@1.99.1 ctrf@0.3.0 stripe@23.1.0 \
	    @octokit/webhooks-methods@6.0.0 @slack/bolt@5.1.0 @shopify/shopify-api@12.3.0 \
	    twilio@6.3.1 discord-interactions@4.4.0 square@46.0.0 @paddle/paddle-node-sdk@3.10.0 \
	    @line/bot-sdk@10.8.0 @linear/sdk@98.0.0 @sendgrid/eventwebhook@8.0.0 razorpay@2.9.8 \
	    pusher@5.3.4
	if command -v go > /dev/null; then cd tests/clients/convoy_go && \
	    go build -o ../../../.clients/bin/convoy-go .; fi

# What stands in the repository is what this makes: gzip -n leaves out the time.
SWAGGER_UI := hookproof/mockserver/api/swagger_ui

.PHONY: swagger-ui
swagger-ui: ## Fetch the files of Swagger UI that the reference server serves (needs npm)
	rm -rf build/swagger-ui
	mkdir -p build/swagger-ui $(SWAGGER_UI)
	npm pack --silent --pack-destination build/swagger-ui swagger-ui-dist@5.35.0
	tar --extract --gzip --directory build/swagger-ui --file build/swagger-ui/*.tgz
	cd build/swagger-ui/package && gzip -9 -n swagger-ui-bundle.js swagger-ui.css
	cd build/swagger-ui/package && cp *-bundle.js.gz swagger-ui.css.gz $(CURDIR)/$(SWAGGER_UI)
	cd build/swagger-ui/package && cat NOTICE LICENSE swagger-ui-bundle.js.LICENSE.txt \
	    > $(CURDIR)/$(SWAGGER_UI)/LICENSE.txt

$(VENV)/.ready-to-release: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[release]'
	touch $@

.PHONY: release
release: $(VENV)/.ready-to-release lint test docs ## Make wheel, sdist, SBOM and checksums in dist; say what is left to do
	$(BIN)/python -m tests.ci.release

# BASE=IMAGE is another base than that of the Dockerfile.
.PHONY: image
image: $(VENV)/.ready-to-release ## Build the image with buildah, podman or docker, and its SBOM; else replay its steps
	$(BIN)/python -m tests.ci.image

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
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[release]'
	$(BIN)/pip freeze --exclude-editable > constraints.txt
	touch $(READY)

.PHONY: mutants
mutants: setup ## Test the suites against every mutant and conforming variant; record the kills
	$(BIN)/hookproof mutants --record --jobs $(MUTANTS_AT_ONCE)

.PHONY: mutants-quick
mutants-quick: setup ## Test the suites against the first fault that each check kills
	$(BIN)/hookproof mutants --quick --jobs 8

# The oldest versions that pyproject.toml allows; there the newest are what pip finds.
OLDEST := schemathesis==4.31.0 hypothesis==6.138.8 pytest==8.4.0
# Older versions of Hypothesis make tables of codecs themselves, and what the state machine tries is
# another sequence in each version.
OF_VERSIONS := tests/conformance/generation tests/conformance/schemathesis_plugin/test_registration.py \
    tests/conformance/schemathesis_plugin/test_target_schema.py \
    tests/conformance/schemathesis_plugin/test_stock_runs.py::test_a_fault_is_reported_by_its_requirement \
    --deselect tests/conformance/generation/test_codec_tables.py::test_hypothesis_reads_the_tables \
    --deselect 'tests/conformance/schemathesis_plugin/test_stock_runs.py::test_a_fault_is_reported_by_its_requirement[description_shown_as_null-4.2-5-phases1]'

.PHONY: versions
versions: ## Try the oldest and the newest Schemathesis, Hypothesis and pytest that are allowed
	for each in oldest newest; do \
	    python3 -m venv build/$$each && \
	    build/$$each/bin/pip install --quiet --disable-pip-version-check --upgrade --editable '.[all]' \
	        pytest-timeout `test $$each = newest || echo "$(OLDEST)"` && \
	    build/$$each/bin/python -m pytest $(OF_VERSIONS) || exit 1; \
	done

# Another sample each time; the first line names its seed.
SEED ?= $(shell date +%s)

.PHONY: mutants-generated
mutants-generated: setup ## Test the suites against a random sample of 300 faults by operators (takes 25 minutes)
	$(BIN)/hookproof mutants --generated 300 --seed $(SEED) --jobs $(MUTANTS_AT_ONCE)

.PHONY: mutants-compound
mutants-compound: setup ## Test the suites against 100 servers with three faults by operators (takes 30 minutes)
	$(BIN)/hookproof mutants --generated 100 --compound 3 --seed $(SEED) --jobs $(MUTANTS_AT_ONCE)

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
