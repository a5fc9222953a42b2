#!/bin/sh
# Profile the compiled core on the micro-benchmark.
#
#   benchmarks/profile.sh callgrind --rows 700 --columns 60 --depth 4   exact instruction counts, ~50x slower
#   benchmarks/profile.sh perf --rows 700 --columns 60 --depth 4        samples, full speed (needs perf rights)
#
# Everything after the first word goes to benchmarks/micro.py. Build with symbols first, for example
#   make build-profile
# Instruction counts are the better gate on a shared machine: they do not move with its load.
# Valgrind does not know AVX-512, so callgrind runs the AVX2 kernels.
set -eu
cd "$(dirname "$0")/.."
PYTHON="${PYTHON:-.venv/bin/python}"
mode="${1:-}"
[ $# -gt 0 ] && shift
case "$mode" in
callgrind)
    command -v valgrind >/dev/null || { echo 'callgrind comes with valgrind; install that first.' >&2; exit 2; }
    rm -f callgrind.out.certree
    PYTHONMALLOC=malloc valgrind --tool=callgrind --callgrind-out-file=callgrind.out.certree \
        --dump-instr=yes --collect-jumps=yes \
        "$PYTHON" benchmarks/micro.py --isa avx2 --repeats 1 "$@"
    callgrind_annotate --auto=no callgrind.out.certree | head -n 40
    ;;
perf)
    command -v perf >/dev/null || { echo 'perf is not installed (package linux-perf).' >&2; exit 2; }
    perf record --call-graph dwarf,16384 -o perf.data "$PYTHON" benchmarks/micro.py "$@"
    perf report -i perf.data --no-children --stdio -g none | head -n 60
    ;;
*)
    echo "usage: benchmarks/profile.sh callgrind|perf [arguments of benchmarks/micro.py]" >&2
    exit 2
    ;;
esac
