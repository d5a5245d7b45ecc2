# Everything is built in .venv, target/ and web/node_modules. Set-up is incremental: a step writes its stamp
# file last, so an interrupted step runs again and a complete one does not.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Dependencies are installed first, with build isolation for those without a wheel. Then the package itself,
# without isolation: pip finds maturin on PATH, so a rebuild downloads nothing.
REQUIRE := $(BIN)/python scripts/install_requirements.py
PIP_EDITABLE := PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --no-build-isolation --no-deps --editable

# Three tests at a time, even on two cores: many wait for clocks, engines and browsers. Each worker starts
# with a third of the tests; the one that finishes first takes tests from the others.
AT_A_TIME := --numprocesses=3 --dist=worksteal

# Tests start hundreds of processes: without bytecode each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

# What needs PyTorch: it has tests of its own.
LEARNING := tests/train python/anabranch/train $(wildcard python/anabranch/selfplay/learn*.py)

# A crazyhouse middlegame: both kings airy, both pockets full.
POSITION := r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14

WEB := web/node_modules
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.DEFAULT_GOAL := run
.DELETE_ON_ERROR:
ifndef AT_ONCE
.NOTPARALLEL:
endif
.PHONY: run web programs ready core-tests committed test test-train test-cluster fuzz check check-clean lint
.PHONY: format wheel publish bench docs report clean help

run: $(VENV)/.native web ## Set up, then analyse a crazyhouse position (the default)
	$(BIN)/anabranch analyse --variant crazyhouse --time 3 "$(POSITION)"

web: $(VENV)/.base ## Build the page of the web board if its sources have changed (needs Node)
	@$(BIN)/python scripts/build_web.py

test: programs ready web ## Set up, then run the tests
	cargo test --locked --profile fast --package anabranch-core
	npm --prefix web run --silent test
	$(BIN)/python -m pytest $(AT_A_TIME) --ignore=tests/cluster $(LEARNING:%=--ignore=%)

test-train: $(VENV)/.train ## Set up with PyTorch (several GB), then run the tests of training
	$(BIN)/python -m pytest $(LEARNING)

test-cluster: $(VENV)/.cluster ## Set up with Ray (240 MB), then run the tests on a cluster of two nodes
	$(BIN)/python -m pytest tests/cluster

fuzz: $(VENV)/.native ## Run the fuzz targets of the core for 20 s each (needs a C++ compiler)
	$(BIN)/python scripts/fuzz.py --seconds 20

check: lint test ## Check formatting, lint and types, then run the tests

check-clean: ## Run `make run` and `make test` in a fresh clone with empty caches
	@scripts/check-clean

lint: $(VENV)/.native $(VENV)/.dev $(WEB)/.ready
	@scripts/check-rust fmt clippy
	npm --prefix web run --silent check
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest anabranch._core
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --locked --profile fast --workspace --all-targets -- -D warnings

format: $(VENV)/.dev $(WEB)/.ready ## Format Python, Rust, TypeScript and CSS
	@scripts/check-rust fmt
	npm --prefix web run --silent format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix --exit-zero --quiet
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml

wheel: $(VENV)/.base web ## Build a wheel in dist/ for Python 3.11 and later, and test it without Rust
	@scripts/check-rust
	rm -rf dist
	$(BIN)/maturin build --out dist
	$(BIN)/python scripts/absolute_links.py dist/*.whl
	scripts/verify-wheel $(BIN)/python dist

publish: committed wheel ## Upload wheel and sources; the credentials are MATURIN_PYPI_TOKEN or ~/.pypirc
	$(BIN)/maturin sdist --out dist
	$(BIN)/python scripts/absolute_links.py dist/*.tar.gz
	$(BIN)/maturin upload dist/*

docs: $(VENV)/.native $(VENV)/.dev ## Build the documentation site in dist/site; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "The site is dist/site/index.html. For its search: python3 -m http.server --directory dist/site"

bench: $(VENV)/.native ## Measure speed and memory, and print the signature of the search
	$(BIN)/anabranch bench

report: $(VENV)/.native $(VENV)/.dev ## Build dist/report.html, one page of all results of the study
	@mkdir -p dist
	$(BIN)/anabranch study report docs/results/*.json --out dist/report.html

clean: ## Remove everything that was built or installed
	rm -rf $(VENV) target dist $(WEB) .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find python tests -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/anabranch/_core*.so python/anabranch/_core*.pyd

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

# A release contains only committed files.
committed:
	@git diff --quiet HEAD || { echo "There are changes that are not committed." >&2; exit 1; }

# The virtual environment with maturin. Rust is checked before anything is installed.
$(VENV)/.base:
	@scripts/check-rust
	@python=$$(scripts/find-python) && echo "Making $(VENV) with $$python ..." && rm -rf $(VENV) && \
		"$$python" -m venv $(VENV)
	@$(PIP) install --upgrade pip 'maturin>=1.9,<2'
	@touch $@

# What the package needs.
$(VENV)/.needs: $(VENV)/.base pyproject.toml
	@echo "Installing what the package needs in $(VENV) ..."
	@$(REQUIRE) web
	@touch $@

# The package, editable, with its native module in a release build.
$(VENV)/.native: $(VENV)/.needs $(RUST)
	@scripts/check-rust
	@echo "Building the native module in $(VENV) (release build; a minute or two the first time) ..."
	@$(PIP_EDITABLE) .
	@touch $@

# The development tools; they do not depend on the package itself.
$(VENV)/.dev: pyproject.toml | $(VENV)/.needs
	@echo "Installing the development tools in $(VENV) ..."
	@$(REQUIRE) dev
	@touch $@

# All that the tests use. The release build keeps one core busy for most of its time; meanwhile the other builds
# the tests of the core, and packages come from the network.
ready:
	@$(MAKE) --no-print-directory --jobs=4 AT_ONCE=yes \
		$(VENV)/.native $(VENV)/.dev $(WEB)/.ready core-tests $(VENV)/.tables

core-tests:
	@scripts/check-rust
	@cargo test --quiet --locked --profile fast --package anabranch-core --no-run

# Programs that make does not install itself. They are checked every time, before anything is built.
programs:
	@scripts/check-rust
	@scripts/find-python > /dev/null
	@scripts/check-node
	@scripts/install-programs

# The npm packages of the page.
$(WEB)/.ready: web/package-lock.json
	@scripts/check-node
	@echo "Installing the packages of the page in web/ ..."
	@npm --prefix web ci --silent --no-audit --no-fund
	@touch $@

# The tablebases of three and four men.
$(VENV)/.tables: | $(VENV)/.native
	@scripts/install-tables $(BIN)/anabranch $(VENV)/share/syzygy
	@touch $@

# PyTorch and the other packages for training.
$(VENV)/.train: pyproject.toml | $(VENV)/.native $(VENV)/.dev
	@echo "Installing the packages for training in $(VENV) (several GB) ..."
	@$(REQUIRE) dev train
	@touch $@

# Ray.
$(VENV)/.cluster: pyproject.toml | $(VENV)/.native $(VENV)/.dev
	@echo "Installing Ray in $(VENV) (240 MB) ..."
	@$(REQUIRE) dev cluster
	@touch $@
