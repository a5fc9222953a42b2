# Every target makes what it needs: a virtual environment in .venv, with cmake and ninja from PyPI,
# and the extension, built incrementally in build/. Needs python3 (>= 3.10), make, a C++20 compiler.

PYTHON ?= python3
JOBS ?= 2
PYTEST_ARGS ?=
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

VENV := .venv
BIN := $(VENV)/bin
SANITIZE_VENV := .venv-sanitize
CPP_SOURCES := $(shell find cpp -name '*.cpp' -o -name '*.hpp' -o -name '*.tpp' -o -name '*.def' 2>/dev/null)
BUILD_REQUIREMENTS := "scikit-build-core>=0.11" "nanobind>=2.5" "cmake>=3.18" ninja
# The environment's cmake and ninja go first, so that an old system cmake does not matter.
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Two makes at once must not build in the same directory.
LOCK := $(shell command -v flock >/dev/null 2>&1 && echo 'flock $(VENV)/.lock')

.PHONY: help setup build build-profile demo test test-quick lint format docs bench papers wheel oldest sanitize tsan clean

help:
	@echo 'make demo      fit a certified optimal tree on bundled data and show its certificate'
	@echo 'make test      run the test-suite'
	@echo 'make lint      ruff, mypy --strict, clang-format (make format repairs)'
	@echo 'make docs      build the documentation into docs/_build/html, warnings as errors'
	@echo 'make bench     run the benchmarks'
	@echo 'make papers    the tables and figures of the papers; FULL=1 all of them, PEERS=1 beside peers'
	@echo 'make wheel     build archive and wheel, and try the wheel in an empty environment'
	@echo 'make oldest    try the wheel with the oldest NumPy, scikit-learn and narwhals'
	@echo 'make sanitize  run the suite on an ASan + UBSan build'
	@echo 'make tsan      run the core with four threads under ThreadSanitizer'
	@echo 'make build     rebuild the extension after a change in cpp/'
	@echo 'make clean     remove everything that make created'

setup: $(VENV)/.built $(VENV)/.test

$(VENV)/.base: tools/requirements.py pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install $(BUILD_REQUIREMENTS)
	@touch $@

# One stamp per extra, and one for what the package itself needs.
$(VENV)/.run: $(VENV)/.base
	$(BIN)/python tools/requirements.py > $@.txt
	$(PIP) install -r $@.txt
	@touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.docs: $(VENV)/.%: $(VENV)/.run
	$(BIN)/python tools/requirements.py $* > $@.txt
	$(PIP) install -r $@.txt
	@touch $@

# The stub is copied next to the sources for type checkers; git ignores it.
$(VENV)/.built: $(VENV)/.run CMakeLists.txt pyproject.toml $(CPP_SOURCES)
	$(RUN) $(LOCK) $(PIP) install --no-build-isolation --no-deps --editable .
	$(BIN)/python tools/copy_stub.py
	@touch $@

build: $(VENV)/.built

# Installs the optimised extension with symbols, for perf and callgrind; the next `make build` puts the
# ordinary one back.
build-profile: $(VENV)/.run
	$(RUN) $(LOCK) $(PIP) install --no-build-isolation --no-deps --editable . \
	    --config-settings=build-dir=build/profile --config-settings=cmake.define.CERTREE_STRIP=OFF \
	    --config-settings=install.strip=false \
	    --config-settings=cmake.define.CMAKE_CXX_FLAGS='-g -fno-omit-frame-pointer'
	rm -f $(VENV)/.built

demo: $(VENV)/.built
	$(BIN)/python examples/demo.py

test: $(VENV)/.built $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

test-quick: $(VENV)/.built $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) -m 'not slow' -x $(PYTEST_ARGS)

# The stub comes and goes with builds, which the cache of mypy does not notice.
lint: $(VENV)/.built $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/copy_stub.py
	$(BIN)/mypy --no-incremental
	find cpp \( -name '*.cpp' -o -name '*.hpp' -o -name '*.tpp' \) -print0 | xargs -0 $(BIN)/clang-format --dry-run -Werror

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find cpp \( -name '*.cpp' -o -name '*.hpp' -o -name '*.tpp' \) -print0 | xargs -0 $(BIN)/clang-format -i

docs: $(VENV)/.built $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -j $(JOBS) -b html docs docs/_build/html
	$(BIN)/python tools/check_pages.py docs/_build/html
	@echo 'open docs/_build/html/index.html'

bench: $(VENV)/.built
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# Matplotlib comes with the tests. PAPERS_ARGS adds options, such as --only branches.
papers: $(VENV)/.built $(VENV)/.test
	$(BIN)/python -m benchmarks.papers $(if $(FULL),--full) $(if $(PEERS),--peers) $(if $(FRESH),--fresh) \
	    --jobs $(JOBS) $(PAPERS_ARGS)

$(VENV)/.wheel: $(VENV)/.base
	$(PIP) install build
	@touch $@

# Both build with cmake and ninja of their own, as users do.
wheel: $(VENV)/.wheel
	$(BIN)/python tools/check_wheel.py

# The oldest versions that pyproject.toml allows, with the oldest Python that has wheels of them.
OLDEST := numpy==1.24.* scikit-learn==1.6.0 narwhals==2.0.1 highspy matplotlib pandas polars
OLDEST_TESTS ?= tests/test_minimal.py tests/sklearn tests/unit/test_classifier.py \
    tests/unit/test_classifier_tables.py tests/unit/test_tables.py tests/unit/test_regressor.py
oldest: $(VENV)/.wheel
	$(BIN)/python tools/check_wheel.py --tests $(OLDEST_TESTS) -- $(OLDEST)

# A second environment that sees the packages of the first, but not its editable install of certree.
$(SANITIZE_VENV)/.built: $(VENV)/.test CMakeLists.txt pyproject.toml $(CPP_SOURCES) $(shell find src -name '*.py' 2>/dev/null)
	test -x $(SANITIZE_VENV)/bin/python || $(PYTHON) -m venv --without-pip $(SANITIZE_VENV)
	$(BIN)/python tools/link_packages.py $(SANITIZE_VENV)
	$(RUN) $(BIN)/python -m pip --python $(SANITIZE_VENV)/bin/python --disable-pip-version-check --quiet install \
	    --no-build-isolation --no-deps --ignore-installed --config-settings=build-dir=build/sanitize \
	    --config-settings=cmake.define.CERTREE_SANITIZE=ON --config-settings=cmake.define.CERTREE_CHECKS=ON \
	    --config-settings=cmake.define.CERTREE_DEBUG_TREE=ON \
	    --config-settings=install.strip=false .
	@touch $@

# The interpreter is not instrumented, so the runtimes are preloaded, and leaks are not looked for:
# CPython keeps objects to the end. Sanitized code is slow, so the profile draws fewer examples. Reports
# go to files, because a worker of pytest-xdist that dies takes its messages with it.
sanitize: $(SANITIZE_VENV)/.built
	rm -f build/sanitize/report.*
	LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1:log_path=$(CURDIR)/build/sanitize/report \
	UBSAN_OPTIONS=print_stacktrace=1:log_path=$(CURDIR)/build/sanitize/report \
	HYPOTHESIS_PROFILE=sanitize \
	$(SANITIZE_VENV)/bin/python -m pytest -n $(JOBS) -o timeout=900 $(PYTEST_ARGS) $(SANITIZE_TESTS) \
	    || { cat build/sanitize/report.* 2>/dev/null; exit 1; }
	@if ls build/sanitize/report.* >/dev/null 2>&1; then cat build/sanitize/report.*; exit 1; fi

# A program of its own: CPython under ThreadSanitizer reports much that is not ours. The kernels for
# single instruction sets add no threads.
# Tables lock all their stripes to grow, more than the search for deadlocks can follow; they are
# locked in one order.
TSAN_SOURCES := cpp/tests/threads.cpp $(filter-out cpp/core/counts/kernels_avx%,$(shell find cpp/core -name '*.cpp' 2>/dev/null))
TSAN_OBJECTS := $(TSAN_SOURCES:%.cpp=build/tsan/%.o)
TSAN_FLAGS := -std=c++20 -O1 -g -fsanitize=thread -Icpp/core

$(TSAN_OBJECTS): build/tsan/%.o: %.cpp $(filter %.hpp %.def,$(CPP_SOURCES))
	@mkdir -p $(@D)
	$(CXX) $(TSAN_FLAGS) -c $< -o $@

build/tsan/threads: $(TSAN_OBJECTS)
	$(CXX) $(TSAN_FLAGS) $^ -o $@ -pthread

tsan:
	$(MAKE) -j $(JOBS) build/tsan/threads
	TSAN_OPTIONS=halt_on_error=1:detect_deadlocks=0 build/tsan/threads

clean:
	rm -rf $(VENV) $(SANITIZE_VENV) .venv-peers build dist docs/_build docs/api/generated docs/gallery docs/sg_execution_times.rst src/certree/_core.pyi
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
