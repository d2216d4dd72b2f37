# Every target works on a fresh machine with Python >= 3.11 and make: it creates .venv and reuses it.
PYTHON ?= python3
BIN := .venv/bin

SOURCES := pyproject.toml setup.py $(wildcard src/ald/*/*.[ch] src/ald/*/*/*.[ch])

.NOTPARALLEL:
.PHONY: setup tools demo web test test-integrations bench
setup: .venv/ready

# What users install is enough for the demonstration; the rest goes on top of it, or brings it along.
define install
@test -x $(BIN)/python || $(PYTHON) -m venv .venv
@$(BIN)/python -m pip install --quiet --editable '$(1)'
endef

.venv/installed: $(SOURCES)
	@echo "Installing ALD and what it needs into .venv: about 300 MB, half a minute ..."
	$(call install,.)
	@touch $@
	@echo "Installed: the command is $(BIN)/ald."

.venv/ready: $(SOURCES)
	@echo "Installing ALD, its extras and all development tools into .venv: about 2 GB, some minutes ..."
	$(call install,.[dev])
	@touch .venv/installed $@
	@echo "Installed: the command is $(BIN)/ald, and 'make test' runs all checks."

# The same by the hashes of a lock file, for the platform that it was made on; pyproject.toml then adds nothing.
.PHONY: locked
locked:
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements/dev.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable '.[dev]'
	@touch .venv/installed .venv/ready

# axe-core, for the tests of the HTML report in a browser; without npm these are skipped.
AXE := .tools/node_modules/axe-core/axe.min.js
tools: $(AXE)

$(AXE):
	command -v npm > /dev/null && npm install --prefix .tools --no-audit --no-fund --silent axe-core@4 || true

demo: .venv/installed
	@mkdir -p demo-output
	@$(BIN)/ald demo --output demo-output/berkeley.html --output demo-output/berkeley.md --output demo-output/berkeley.json
	@echo "That was the demonstration. The report is demo-output/berkeley.html: open it in a browser."

# The page needs three small packages more, about 8 MB.
web: .venv/installed
	@$(BIN)/python -m pip install --quiet --editable '.[web]'
	@$(BIN)/ald serve

test: setup tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest

# Tools beside this one, by their real packages: about 200 MB more.
test-integrations: setup
	$(BIN)/python -m pip install --quiet --requirement tests/integrations/requirements.txt
	$(BIN)/python -m pytest -n 0 tests/integrations

# What must never happen, tried for an hour; CI runs a small part of it (tests/test_torture.py).
.PHONY: torture
torture: setup
	$(BIN)/python -m benchmarks.torture --minutes 55 --write
	ALD_LAWS=1000 $(BIN)/python -m pytest -q tests/test_laws.py

bench: setup
	$(BIN)/python benchmarks/adult.py
