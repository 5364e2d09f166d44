# make demo    cluster a generated file of pairs and show the largest clusters
# make test    every check and the tests that need no GPU, and how long they took
# make quick ROOM=cores    the rules of the house, and the tests of one room that need no compiler
# make docs    the documentation, in docs/_build/html
# make release-tests    slower tests, which a release has to pass besides
# make dist    a release, in dist
# make kernels wheels with compiled kernels, in dist, for every Python that is there
# make smoke   install the release in dist for every Python that is there, and use it
#
# Each makes the virtual environment it needs.  Nothing is assumed but make and a Python from 3.11 on.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP = -m pip install --quiet --disable-pip-version-check
PYTHON_THERE = test -n "$(PYTHON)" || { echo "edgewise needs Python 3.11 or newer; none found (set PYTHON=...)"; exit 1; }
# The Python of the tests; it needs no pip of its own.
TEST_PYTHON ?= $(PYTHON)
# uv takes a fifth of pip's time.  Where it is not there, or reaches no registry, pip does the same.
into = { test -x .venv-uv/bin/uv && .venv-uv/bin/uv pip install --quiet --python .venv-$1/bin/python $2; } || \
	.venv-uv/bin/python -m pip --python .venv-$1/bin/python install --quiet --no-compile $2

DEMO = demo
VERSIONS = 3.11 3.12 3.13
RUN = .venv-demo/bin/edgewise
TEST = .venv-test/bin
FALLBACKS = $(addprefix tests/device/test_,loops.py records.py regions.py)
# With the oldest PyArrow: whatever it reads, writes and casts, in few tests; all of tests/files before a release.
WITH_FLOORS = $(addprefix tests/files/test_,round_trips.py tables.py store.py arguments.py tables_without_rows.py faults.py)
# Partitions come first, whose kernels files, guides and networkx then find; the commands after what they run.
HALF = tests/partitions tests/paths tests/cycles tests/experiments tests/refinement tests/transactions tests/command
# On the simulated GPU also with weak memory, which takes twice the time: loops, barriers, and what joins and marks.
WEAK = $(addprefix tests/,device primitives forest strong cores)
ON_CPU = NUMBA_NUM_THREADS=$${NUMBA_NUM_THREADS:-$$(n=$$(getconf _NPROCESSORS_ONLN); [ $$n -gt 2 ] && echo $$n || echo 2)} \
	$(TEST)/python -m pytest -q --durations=10

# The oldest versions of the dependencies were built for these only.
FLOORS_PYTHON ?= $(shell for p in python3.11 python3.12; do $$p -c '' 2>/dev/null && echo $$p && break; done)

# The environments are made without compiled pages, so the processes of the tests keep those that they import.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick lint types imports floors engine-simulator engine-interpreter engine-cpu engine-cpu-half \
	engine-cpu-rest engine-fallbacks floors-there release-tests docs dist kernels smoke clean

demo: .venv-demo/ready
	@mkdir -p $(DEMO)
	$(RUN) generate pairs 200000 -o $(DEMO)/pairs.parquet
	$(RUN) components $(DEMO)/pairs.parquet --where 'score >= 0.9' -o $(DEMO)/clusters.parquet --verify
	$(RUN) components $(DEMO)/pairs.parquet --where 'score >= 0.9' --top 10
	@echo "The pairs are in $(DEMO)/pairs.parquet, the clusters in $(DEMO)/clusters.parquet."

# Two run at a time, since compiling keeps only one core busy; so the CPU's tests are two halves.  The second
# begins after the simulator's tests, when the first has compiled most of what both need.
test:
	+@start=$$(date +%s); $(MAKE) --no-print-directory -j 2 lint types engine-cpu-half engine-simulator \
		engine-cpu-rest engine-interpreter floors engine-fallbacks || exit; \
		echo "make test took $$(($$(date +%s) - start)) s; processor time, user and system, of the shell and its children:"; \
		times

quick: .venv-test/ready
	NUMBA_DISABLE_JIT=1 $(TEST)/python -m pytest -q -m interpreter tests/$(ROOM)
	$(TEST)/python -m pytest -q tests/test_house.py

lint: .venv-test/ready
	$(TEST)/ruff check .
	$(TEST)/ruff format --check .
	$(TEST)/codespell README.md CHANGELOG.md bench changes docs edgewise examples tests

types: .venv-test/ready
	$(TEST)/mypy

imports: .venv-test/ready
	$(TEST)/lint-imports --no-cache

# An installed package and the readers, with the oldest versions that pyproject.toml allows.
floors: .venv-test/ready
	@if test -n "$(FLOORS_PYTHON)"; then $(MAKE) --no-print-directory floors-there; \
		else echo "floors: left out, since there is no Python 3.11 or 3.12"; fi

floors-there: .venv-floors/ready
	$(call into,floors,--no-deps --force-reinstall .)
	folder=$$(mktemp -d) && cp tests/smoke.py $$folder && cd $$folder && \
		EDGEWISE_CACHE_DIR=$$folder/cache '$(CURDIR)/.venv-floors/bin/python' smoke.py $$folder && rm -rf $$folder
	NUMBA_DISABLE_JIT=1 .venv-floors/bin/python -m pytest -q -m interpreter $(WITH_FLOORS) \
		$(addprefix --ignore=tests/files/test_,composite_ids.py encodings.py memory.py numbers.py)

engine-simulator: .venv-test/ready
	EDGEWISE_SIMULATOR=1 $(TEST)/python -m pytest -q -m simulator
	EDGEWISE_SIMULATOR=1 EDGEWISE_WEAK_MEMORY=1 EDGEWISE_SEED=4 $(TEST)/python -m pytest -q -m simulator $(WEAK)

engine-interpreter: .venv-test/ready
	NUMBA_DISABLE_JIT=1 $(TEST)/python -m pytest -q -m interpreter

# By public interfaces of Numba and llvmlite only (edgewise/device/numba_internals.py, numba_pipeline.py).
engine-fallbacks: .venv-test/ready
	EDGEWISE_PUBLIC_ONLY=1 $(ON_CPU) $(FALLBACKS)

engine-cpu: engine-cpu-half engine-cpu-rest

engine-cpu-half: .venv-test/ready
	$(ON_CPU) $(HALF)

engine-cpu-rest: .venv-test/ready
	$(ON_CPU) $(addprefix --ignore=,$(HALF))

# A release is tried for what few changes concern: longer campaigns, figures of benchmarks, what commands find
# compiled in a wheel, other versions of Numba and of PyArrow.
release-tests: .venv-test/ready
	EDGEWISE_RELEASE=1 $(ON_CPU) -m release
	EDGEWISE_PUBLIC_ONLY=1 $(ON_CPU) $(addprefix tests/primitives/test_,hash_table.py rounds.py sorting.py vectors.py)
	$(MAKE) --no-print-directory floors WITH_FLOORS=tests/files

docs: .venv-docs/ready
	.venv-docs/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html."

# The wheel is built from the source distribution, which has every tracked file.
dist: .venv-release/ready
	rm -rf dist
	.venv-release/bin/python -m build --outdir dist .
	.venv-release/bin/python -m twine check --strict dist/*
	@tar tzf dist/*.tar.gz | sed 's,^[^/]*/,,' | sort > dist/listed
	@git ls-files | sort | comm -13 dist/listed - > dist/missing; rm dist/listed
	@test ! -s dist/missing || { echo "not in the source distribution:"; cat dist/missing; exit 1; }
	@rm dist/missing

# Each takes minutes, most of them to compile for two levels of processors.
kernels: .venv-release/ready
	@test -f dist/*-none-any.whl || { echo "dist has no wheel; run make dist first"; exit 1; }
	.venv-release/bin/python .ci/kernels.py dist/*-none-any.whl dist \
		$$(for version in $(VERSIONS); do python$$version -c 'import sys; print(sys.executable)' 2> /dev/null; done)

smoke:
	@test -f dist/*.tar.gz || { echo "dist has no source distribution; run make dist first"; exit 1; }
	@for version in $(VERSIONS); do \
		python$$version -c '' 2> /dev/null || { echo "Python $$version: not there"; continue; }; \
		for file in dist/*.tar.gz $$(ls dist/*-cp$$(echo $$version | tr -d .)-*.whl 2> /dev/null); do \
			folder=$$(mktemp -d) && python$$version -m venv $$folder/venv && \
			$$folder/venv/bin/python $(PIP) $$file && cp tests/smoke.py $$folder && \
			(cd $$folder && EDGEWISE_CACHE_DIR=$$folder/cache venv/bin/python smoke.py $$folder) || exit 1; \
			echo "Python $$version: $$file installed and used"; rm -rf $$folder; \
		done; \
	done

clean:
	rm -rf .venv-demo .venv-test .venv-docs .venv-release .venv-floors .venv-uv $(DEMO) docs/_build docs/api/generated build dist .pytest_cache

.venv-demo/ready: WHAT = .
.venv-docs/ready: WHAT = '.[docs]'
.venv-release/ready: WHAT = '.[release]'

# No page is compiled: those of a hundred packages would take longer than the few that tests import.
.venv-test/ready: pyproject.toml | .venv-uv/ready
	@echo "making the virtual environment .venv-test ..."
	@$(TEST_PYTHON) -m venv --clear --without-pip .venv-test
	@$(call into,test,--editable '.[test]')
	@touch $@

.venv-floors/ready: pyproject.toml tests/floors.txt | .venv-uv/ready
	@echo "making the virtual environment .venv-floors ..."
	@$(FLOORS_PYTHON) -m venv --clear --without-pip .venv-floors
	@$(call into,floors,--requirement tests/floors.txt pytest hypothesis pandas networkx)
	@touch $@

# The pip that comes with Python 3.11 takes twice the time of a newer one to choose among all releases.
.venv-uv/ready:
	@$(PYTHON_THERE)
	@$(PYTHON) -m venv --clear .venv-uv
	@.venv-uv/bin/python $(PIP) uv || { echo "uv cannot be installed; pip takes its place"; \
		.venv-uv/bin/python $(PIP) --upgrade pip; }
	@touch $@

.venv-%/ready: pyproject.toml
	@$(PYTHON_THERE)
	@echo "making the virtual environment .venv-$* ..."
	@$(PYTHON) -m venv --clear .venv-$*
	@.venv-$*/bin/python $(PIP) --editable $(WHAT)
	@touch $@
