#!/bin/bash
# Runs unit tests under tools that watch what they do to memory, and how threads meet there.
#
#   tests/sanitizers.sh LANE...     LANE is miri, tsan or asan; without one, all three
#
#   miri   undefined behaviour and aliasing (Tree Borrows): handles, parking, os, metadata, parts of the heap
#   tsan   data races: heap, handles, parking
#   asan   addresses: runtime, icalls
#
# Miri takes a nightly toolchain. The sanitizers take one too, or the usual toolchain (RUSTC_BOOTSTRAP=1: for checks only); tsan also
# takes rust-src, since the standard library has to be compiled with it. What the machine has not got is skipped, in words.
# What is found and is no fault is in tests/sanitizers/tsan.txt, with the reason.
#
# Artefacts go to $SANITIZERS_DIR (target/sanitizers).
set -uo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
target=x86_64-unknown-linux-gnu
artefacts=${SANITIZERS_DIR:-$root/target/sanitizers}
export PROPTEST_CASES=${PROPTEST_CASES:-8}
errors=0

skip() { echo "  skipped: $*"; }
run() {
    echo "  $*"
    "$@" || { echo "  FAILED: $*"; errors=$((errors + 1)); }
}
have_nightly() { cargo +nightly --version > /dev/null 2>&1; }
# Has the toolchain of that compiler the standard library's source?
has_source() { [ -e "$("$@" --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; }

miri() {
    if ! have_nightly || ! cargo +nightly miri --version > /dev/null 2>&1; then
        skip "miri: no nightly toolchain with miri"
        return
    fi
    # Memory is known by addresses, so pointers are made of integers; and tests look at the clock and at files.
    export MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-disable-isolation -Zmiri-ignore-leaks ${MIRIFLAGS:-}"
    export CARGO_TARGET_DIR=$artefacts/miri
    run cargo +nightly miri test -q -p vervet-parking --lib
    # Signals, stacks and processors are no matter of Miri's.
    run cargo +nightly miri test -q -p vervet-os --lib -- chunks published lock
    run cargo +nightly miri test -q -p vervet-handles --tests
    run cargo +nightly miri test -q -p vervet-metadata --lib
    run cargo +nightly miri test -q -p vervet-metadata --test signatures
    run cargo +nightly miri test -q -p vervet-heap --lib
}

tsan() {
    local use
    if have_nightly && has_source rustc +nightly; then
        use=(cargo +nightly)
    elif has_source rustc; then
        use=(env RUSTC_BOOTSTRAP=1 cargo)
    else
        skip "tsan: no rust-src"
        return
    fi
    export TSAN_OPTIONS="suppressions=$root/tests/sanitizers/tsan.txt halt_on_error=0 ${TSAN_OPTIONS:-}"
    RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=$artefacts/tsan \
        run "${use[@]}" test -q -Zbuild-std --target "$target" -p vervet-parking -p vervet-handles -p vervet-heap --lib --tests
}

asan() {
    local use=(env RUSTC_BOOTSTRAP=1 cargo)
    have_nightly && use=(cargo +nightly)
    # Leaks: what the runtime makes lives as long as the process. Signals: it has handlers of its own, on stacks of its own.
    export ASAN_OPTIONS="detect_leaks=0 handle_segv=0 handle_sigbus=0 handle_sigfpe=0 use_sigaltstack=0 ${ASAN_OPTIONS:-}"
    RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=$artefacts/asan \
        run "${use[@]}" test -q --target "$target" -p vervet-runtime -p vervet-icalls --lib
}

for lane in "${@:-miri tsan asan}"; do
    for one in $lane; do
        case $one in
            miri | tsan | asan) echo "$one"; "$one" ;;
            *) echo "tests/sanitizers.sh: no lane is called $one" >&2; exit 2 ;;
        esac
    done
done
[ "$errors" -eq 0 ] || { echo "$errors failed"; exit 1; }
