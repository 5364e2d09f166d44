# make demo    cluster a generated file of pairs and show the largest clusters
# make test    every check and every test that needs no GPU
# make docs    the documentation, in docs/_build/html
#
# Each makes the virtual environment it needs.  Nothing is assumed but make and a Python from 3.11 on.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP = -m pip install --quiet --disable-pip-version-check

DEMO = demo
RUN = .venv-demo/bin/edgewise
TEST = .venv-test/bin
FALLBACKS = tests/device/test_loops.py tests/device/test_records.py tests/device/test_regions.py tests/primitives
SEARCHES = tests/paths tests/cycles tests/experiments
ON_CPU = NUMBA_NUM_THREADS=$${NUMBA_NUM_THREADS:-$$(n=$$(getconf _NPROCESSORS_ONLN); [ $$n -gt 2 ] && echo $$n || echo 2)} \
	$(TEST)/python -m pytest -q --durations=10

.PHONY: demo test lint types imports engine-simulator engine-interpreter engine-cpu engine-cpu-searches engine-cpu-others engine-fallbacks \
	docs clean

demo: .venv-demo/ready
	@mkdir -p $(DEMO)
	$(RUN) generate pairs 200000 -o $(DEMO)/pairs.parquet
	$(RUN) components $(DEMO)/pairs.parquet --where 'score >= 0.9' -o $(DEMO)/clusters.parquet --verify
	$(RUN) components $(DEMO)/pairs.parquet --where 'score >= 0.9' --top 10
	@echo "The pairs are in $(DEMO)/pairs.parquet, the clusters in $(DEMO)/clusters.parquet."

# Two run at a time, since compiling keeps only one core busy; so the CPU's tests are two halves.
test: lint types imports
	+@$(MAKE) --no-print-directory -j 2 engine-cpu engine-simulator engine-interpreter engine-fallbacks

lint: .venv-test/ready
	$(TEST)/ruff check .
	$(TEST)/ruff format --check .

types: .venv-test/ready
	$(TEST)/mypy

imports: .venv-test/ready
	$(TEST)/lint-imports --no-cache

engine-simulator: .venv-test/ready
	NUMBA_ENABLE_CUDASIM=1 $(TEST)/python -m pytest -q -m simulator

engine-interpreter: .venv-test/ready
	NUMBA_DISABLE_JIT=1 $(TEST)/python -m pytest -q -m interpreter

# By public interfaces of Numba and llvmlite only (edgewise/device/numba_internals.py).
engine-fallbacks: .venv-test/ready
	EDGEWISE_PUBLIC_ONLY=1 $(ON_CPU) $(FALLBACKS)

engine-cpu: engine-cpu-searches engine-cpu-others

engine-cpu-searches: .venv-test/ready
	$(ON_CPU) $(SEARCHES)

engine-cpu-others: .venv-test/ready
	$(ON_CPU) $(addprefix --ignore=,$(SEARCHES))

docs: .venv-docs/ready
	.venv-docs/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html."

clean:
	rm -rf .venv-demo .venv-test .venv-docs $(DEMO) docs/_build docs/api/generated build dist .pytest_cache

.venv-demo/ready: WHAT = .
.venv-test/ready: WHAT = '.[test]'
.venv-docs/ready: WHAT = '.[docs]'

.venv-%/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "edgewise needs Python 3.11 or newer; none found (set PYTHON=...)"; exit 1; }
	@echo "making the virtual environment .venv-$* ..."
	@$(PYTHON) -m venv --clear .venv-$*
	@.venv-$*/bin/python $(PIP) --editable $(WHAT)
	@touch $@
