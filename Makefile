# Every target works on a fresh machine with Python >= 3.11 and make: it creates .venv and reuses it.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup tools demo test bench
setup: .venv/ready

.venv/ready: pyproject.toml setup.py $(wildcard src/ald/*.h src/ald/*/*.c src/ald/*/*.h)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# axe-core, for the tests of the HTML report in a browser; without npm these are skipped.
AXE := .tools/node_modules/axe-core/axe.min.js
tools: $(AXE)

$(AXE):
	command -v npm > /dev/null && npm install --prefix .tools --no-audit --no-fund --silent axe-core@4 || true

demo: setup
	mkdir -p demo-output
	$(BIN)/ald demo --output demo-output/berkeley.html --output demo-output/berkeley.md --output demo-output/berkeley.json

test: setup tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest

bench: setup
	$(BIN)/python benchmarks/adult.py
