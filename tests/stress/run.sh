#!/bin/bash
# The stress test of critical regions and of stopping the world: Stress.cs with a foreign library's signals, SECONDS long.
#
#   tests/stress/run.sh [SECONDS]       default 20, shared by the configurations below
#   VERVET=/usr/bin/mono tests/stress/run.sh   Mono: without the options that verify the heap
#
# Vervet runs with the heap verified after each collection (GC_DEBUG, default `verify`); once as it is usually, once
# with a small nursery, once collecting every so many allocations besides.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
seconds=${1:-20}
# No test reads or writes the user's own cache of compiled code.
export VERVET_CACHE=${VERVET_CACHE-off}
out=$PWD/.cache/stress
mkdir -p "$out"

if [ -z "${VERVET:-}" ]; then
    tests/build.sh || exit 1
    VERVET=${CARGO_TARGET_DIR:-$PWD/target}/ci/vervet
fi
VERVET=$(realpath "$VERVET")

fresh() { [ "$1" -nt "$2" ] && [ "$1" -nt "$0" ]; }
fresh "$out/libstress.so" tests/stress/native.c ||
    cc -O2 -Wall -Werror -shared -fPIC -pthread -o "$out/libstress.so" tests/stress/native.c -lrt || exit 1
fresh "$out/native_call.dll" tests/stress/calli.il ||
    ilasm -quiet -dll "-output:$out/native_call.dll" tests/stress/calli.il > "$out/native_call.log" 2>&1 || { cat "$out/native_call.log"; exit 1; }
{ fresh "$out/Stress.exe" tests/stress/Stress.cs && fresh "$out/Stress.exe" tests/stress/Native.cs; } ||
    mcs -nologo -optimize -langversion:latest -warn:0 "-r:$out/native_call.dll" "-out:$out/Stress.exe" tests/stress/Stress.cs tests/stress/Native.cs || exit 1

errors=0
run() { # seconds, gc parameters, options of the runtime...
    local seconds=$1 params=$2 code; shift 2
    (cd "$out" && MONO_GC_PARAMS=max-heap-size=2g$params timeout -k 5 $((seconds + 120)) "$VERVET" "$@" Stress.exe "$seconds") \
        > "$out/stdout" 2> "$out/stderr" < /dev/null
    code=$?
    if [ $code = 0 ] && [ "$(cat "$out/stdout")" = ok ]; then
        echo "stress${params:+ $params}${*:+ $*}: ok, $(sed -n 's/^\(signals\|collections\) *//p' "$out/stderr" | paste -sd ';')"
    else
        echo "stress${params:+ $params}${*:+ $*}: FAILED with code $code:"
        tail -n 30 "$out/stderr" | cut -c1-200 | sed 's/^/    /'
        errors=$((errors + 1))
    fi
}

case $(basename "$VERVET") in
    mono*)
        run "$seconds" '' ;;
    *)
        third=$(((seconds + 2) / 3)) debug=${GC_DEBUG:-verify}
        run "$third" '' "--gc-debug=$debug"
        run "$third" ,nursery-size=256k "--gc-debug=$debug"
        run "$third" '' "--gc-debug=$debug,collect-every=5000,promote-in-place=4" ;;
esac
[ "$errors" = 0 ]
