# SPDX-License-Identifier: Apache-2.0
#
# The everyday commands. CMake builds (CMakePresets.json); this file only spares the typing. A step
# that succeeds prints one line, a step that fails prints the end of its output; whole logs are
# under build/logs.

JOBS ?= $(shell nproc)
build := build/release
strid := $(build)/tools/strid
quietly := scripts/quietly
study_targets := strid_memory strid_trace strid_malloc strid_tlsf strid_miser strid_exchange_core \
	strid_exchange_session strid_exchange_data strid_exchange_load
sources = $(shell git ls-files -co --exclude-standard '*.hpp' '*.cpp')

.PHONY: help demo test test-papers package bench docs instructions compiling figures figures-trading \
	figures-patterns layouts report study peers soak format check install-dependencies \
	configure configure-bench \
	clean
.DEFAULT_GOAL := help

help:
	@echo 'make demo          build, run flights, word count and spike detection on bundled input, into out/'
	@echo 'make test          build and run the tests of the engine, the command line and the pages'
	@echo 'make test-papers   build and run the tests of papers/: applications, programs, figures'
	@echo 'make package       a Debian package and a tarball of the sources, into build/packages'
	@echo 'make bench         build and run the benchmarks, print their table'
	@echo 'make docs          build the site of the documentation and the API reference, into build/docs'
	@echo 'make instructions  count the instructions per record of a dozen short runs; a minute'
	@echo 'make compiling     measure what three programs take to compile, against a budget'
	@echo 'make figures       both of the next: tables and plots; three quarters of an hour'
	@echo 'make figures-trading   the figures of the trading operator, into out/trading; half an hour. TRADING=--quick: seconds'
	@echo 'make figures-patterns  queues, allocators, farms, rings and programs of patterns, into out/patterns'
	@echo 'make layouts       the tables of paper 5: allocators, access, layouts, into out/layouts; a quarter of an hour'
	@echo 'make report        figures 12 to 20, tables 3 and 4 of paper 2, into out/report; three quarters of an hour.'
	@echo '                   REPORT=--quick: a minute; REPORT="--figures 12,16 --resume"'
	@echo 'make study         which allocator for the exchange (paper 3): figures 8 to 13, tables I to VI,'
	@echo '                   into out/study; half an hour. STUDY=--quick: a minute; STUDY=--resume'
	@echo 'make peers         build the applications on Flink and Storm (Java 17, Maven), compare their answers'
	@echo 'make soak          a minute of a slow sink behind a source at full speed, then the tests with'
	@echo '                   fresh seeds, and ten times as many random cases of strid window'
	@echo 'make format        format the C++ files (clang-format-16)'
	@echo 'make check         the whole of continuous integration: every sanitizer and both compilers'
	@echo 'make clean         remove build/ and out/'

install-dependencies:
	@scripts/install-dependencies

configure: install-dependencies
	@$(quietly) configure cmake --preset release

demo:
	@scripts/install-dependencies --demo
	@$(quietly) configure cmake --preset release
	@$(quietly) build-demo cmake --build --preset release -j $(JOBS) --target demo
	@scripts/demo $(strid) out

test: configure
	@$(quietly) build cmake --build --preset release -j $(JOBS) -- -k 0
	@scripts/run-tests release

# On the same build.
test-papers: configure
	@$(quietly) build-papers cmake --build --preset release -j $(JOBS) --target papers -- -k 0
	@scripts/run-tests papers
	@papers/2-windflow/bench/instructions/count_applications.py --build $(build)

# A build without tests and benchmarks: all of it is installed, the programs of the papers too.
package: install-dependencies
	@$(quietly) configure-package cmake --preset package
	@$(quietly) build-package cmake --build --preset package -j $(JOBS) --target all papers
	@$(quietly) package cpack --config build/package/CPackConfig.cmake -B build/packages
	@$(quietly) package-source cpack --config build/package/CPackSourceConfig.cmake -B build/packages
	@ls build/packages/strid*

configure-bench:
	@scripts/install-dependencies --bench
	@$(quietly) configure cmake --preset release

bench: configure-bench
	@$(quietly) build-bench cmake --build --preset release -j $(JOBS) --target all papers benchmarks
	@scripts/bench $(build)

docs:
	@scripts/install-dependencies --docs
	@$(quietly) docs scripts/build_docs.py build/docs

instructions: configure
	@$(quietly) build-counted cmake --build --preset release -j $(JOBS) \
		--target strid_tool counted_runs
	@bench/instructions/count.py --build $(build)

compiling: configure
	@bench/compiling/budget.py --build $(build)

# One after the other: they would disturb each other.
figures:
	@$(MAKE) --no-print-directory figures-trading
	@$(MAKE) --no-print-directory figures-patterns

figures-trading: configure-bench
	@$(quietly) build-figures-trading cmake --build --preset release -j $(JOBS) \
		--target trading_bench multicast_bench
	@papers/1-stream-memory/bench/figures.py --build $(build) --output out/trading $(TRADING)

figures-patterns: configure-bench
	@$(quietly) build-figures-patterns cmake --build --preset release -j $(JOBS) \
		--target pattern_figures
	@papers/4-fastflow/bench/figures.py --build $(build) --output out/patterns

layouts: configure-bench
	@$(quietly) build-layouts cmake --build --preset release -j $(JOBS) --target layouts
	@papers/5-layouts/bench/layouts.py --build $(build) --output out/layouts

report: configure-bench
	@$(quietly) build-report cmake --build --preset release -j $(JOBS) \
		--target applications batched_words replayed_ads
	@papers/2-windflow/bench/report/report.py --build $(build) --output out/report $(REPORT)

study: configure-bench
	@$(quietly) build-study cmake --build --preset release -j $(JOBS) --target $(study_targets)
	@papers/3-allocators/bench/study.py --build $(build) --output out/study $(STUDY)

# Maven fetches the engines the first time: a hundred megabytes. Measured by hand:
# papers/2-windflow/bench/peers/README.md.
peers:
	@scripts/install-dependencies --peers
	@papers/2-windflow/bench/peers/peers.py build
	@papers/2-windflow/bench/peers/peers.py check

# Fresh seeds: ctest without those of scripts/run-tests.
soak: configure
	@$(quietly) build cmake --build --preset release -j $(JOBS) -- -k 0
	@STRID_SOAK_SECONDS=60 $(build)/tests/graph_slow_test --gtest_brief=1
	@STRID_CASES=3000 $(quietly) soak ctest --preset release-quick -E '^example|^layering'

format:
	@clang-format-16 -i $(sources)

check:
	@bash .ci/run dependencies formatting release papers instructions compiling benchmarks shared \
		peers asan-ubsan papers-asan-ubsan clang-warnings tsan perturb paranoid clang

clean:
	@rm -rf build out
