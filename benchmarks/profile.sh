#!/bin/sh
# Profile the compiled core on the micro-benchmark.
#
#   make build-profile                                                  # once: a build with symbols
#   benchmarks/profile.sh callgrind --rows 700 --columns 60 --depth 4   # instruction counts, slow
#   benchmarks/profile.sh perf --rows 700 --columns 60 --depth 4        # samples, at full speed
#
# Everything after the first word goes to benchmarks/micro.py. Callgrind collects the solve alone.
# Instruction counts are the better gate on a shared machine: they do not move with its load.
# Valgrind does not know AVX-512, so callgrind runs the AVX2 kernels.
set -eu
cd "$(dirname "$0")/.."
PYTHON="${PYTHON:-.venv/bin/python}"
extension=$("$PYTHON" -c 'from certree import _core; print(_core.__file__)')
nm -C "$extension" 2>/dev/null | grep -q 'certree::solve(' || {
    echo 'the extension has no symbols; run make build-profile first.' >&2
    exit 2
}
mode="${1:-}"
[ $# -gt 0 ] && shift
case "$mode" in
callgrind)
    command -v valgrind >/dev/null || { echo 'callgrind comes with valgrind; install that first.' >&2; exit 2; }
    rm -f callgrind.out.certree
    valgrind --tool=callgrind --callgrind-out-file=callgrind.out.certree \
        --collect-atstart=no --toggle-collect='certree::solve(*' \
        "$PYTHON" benchmarks/micro.py --isa avx2 --repeats 1 "$@"
    callgrind_annotate --auto=no callgrind.out.certree | head -n 40
    ;;
perf)
    command -v perf >/dev/null || { echo 'perf is not installed (package linux-perf).' >&2; exit 2; }
    perf record --call-graph dwarf,16384 -o perf.data "$PYTHON" benchmarks/micro.py "$@"
    perf report -i perf.data --no-children --stdio -g none --dsos "$(basename "$extension")" | head -n 60
    ;;
*)
    echo "usage: benchmarks/profile.sh callgrind|perf [arguments of benchmarks/micro.py]" >&2
    exit 2
    ;;
esac
