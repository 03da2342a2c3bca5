#!/bin/bash
# Runs tests under tools that watch what they do to memory, and how threads meet there.
#
#   tests/sanitizers.sh [LANE...]     LANE is miri, tsan or asan; without one, all three
#
#   miri   undefined behaviour, aliasing (Tree Borrows) and data races, in what is executed: parking, os (chunks, published cells), the
#          unit tests of heap (not the verifier's), single calls of handles; and, without the aliasing model, a small heap with all kinds of collections
#   tsan   data races: the tests of parking and handles, and those of heap that have threads
#   asan   addresses: the unit tests of os, parking, handles, heap, metadata, binder, runtime and icalls, and every fuzz target for
#          a short time; and the C hosts of the embedding library, compiled with it
#
# Time: miri took 693 s, its build included, on 2 cores that other work kept busy (load average 8): the unit tests of heap 124 s, the
# handles 219 s, the small heap 121 s.
#
# Not here: C hosts under TSan, which keeps the signal that stops a thread back until the thread calls something that it knows; handles
# with threads under Miri (too slow), and metadata under Miri (which has no unsafe code).
#
# Miri takes a nightly toolchain with it. The other two take the usual toolchain, as one for checks only (RUSTC_BOOTSTRAP=1); tsan
# also takes rust-src, since the standard library has to be compiled with it, of that toolchain or of a nightly one. What the machine
# has not got is skipped, in words. No report is suppressed.
#
# Artefacts go to $SANITIZERS_DIR (target/sanitizers). A lane ends after $LANE_SECONDS of running tests (600; builds are not counted):
# what it did not get to was not run, and that is an error.
set -uo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
target=x86_64-unknown-linux-gnu
artefacts=${SANITIZERS_DIR:-$root/target/sanitizers}
limit=${LANE_SECONDS:-600}
errors=0

skip() { echo "  skipped: $*"; }
# A build, which is not limited.
build() {
    echo "  $*"
    "$@" || { echo "  FAILED: $*"; errors=$((errors + 1)); return 1; }
}
# Tests, within what is left of the lane's time.
run() {
    local left=$((limit - SECONDS + began))
    echo "  $*"
    [ $left -gt 0 ] && timeout -k 10 $left "$@" && return
    echo "  FAILED: $*"
    errors=$((errors + 1))
}
has_source() { [ -e "$("$@" --print sysroot 2> /dev/null)/lib/rustlib/src/rust/library/Cargo.lock" ]; }

miri() {
    if ! cargo +nightly miri --version > /dev/null 2>&1; then
        skip "no nightly toolchain with miri"
        return
    fi
    # (Frames of a panic are found by reading debug information, which takes Miri long.)
    export RUST_BACKTRACE=0
    # Memory is known by addresses, so pointers are made of integers; what is made lives as long as the process; and tests look at the
    # clock and at files.
    export MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-disable-isolation -Zmiri-ignore-leaks ${MIRIFLAGS:-}"
    export CARGO_TARGET_DIR=$artefacts/miri PROPTEST_CASES=${PROPTEST_CASES:-4}
    build cargo +nightly miri test -q --no-run -p vervet-parking -p vervet-os -p vervet-handles -p vervet-heap --lib --tests || return
    began=$SECONDS
    run cargo +nightly miri test -q -p vervet-parking --lib
    run cargo +nightly miri test -q -p vervet-os --lib -- chunks published
    run cargo +nightly miri test -q -p vervet-heap --lib
    run cargo +nightly miri test -q -p vervet-handles --test handles -- a_freed_slot a_handle a_hint a_thread
    # The heap makes every reference out of an address. Each would be a tree of its own, and Miri looks at all of them at every access.
    MIRIFLAGS+=" -Zmiri-disable-stacked-borrows"
    run cargo +nightly miri test -q -p vervet-heap --test collector -- graph::
}

# Cargo as a sanitizer wants it, in `with`: $1 is the sanitizer, what follows the toolchain.
with_sanitizer() {
    # Frame pointers: as .cargo/config.toml says, which these flags are instead of.
    with=(env "RUSTFLAGS=-Zsanitizer=$1 --cfg vervet_sanitizers -Cforce-frame-pointers=yes"
        CARGO_INCREMENTAL=0 CARGO_PROFILE_CI_OPT_LEVEL=1 "CARGO_TARGET_DIR=$artefacts/$1" "${@:2}")
}
usual=(RUSTC_BOOTSTRAP=1 cargo)

tsan() {
    if has_source rustc +nightly; then
        with_sanitizer thread cargo +nightly
    elif has_source rustc; then
        with_sanitizer thread "${usual[@]}"
    else
        skip "no source of the standard library (rustup component add rust-src)"
        return
    fi
    export TSAN_OPTIONS="halt_on_error=1:${TSAN_OPTIONS:-}"
    local how=(-q --profile ci --target "$target" -Zbuild-std)
    local heap=(-p vervet-heap --lib --test collector)
    build "${with[@]}" test --no-run "${how[@]}" "${heap[@]}" || return
    build "${with[@]}" test --no-run "${how[@]}" -p vervet-parking -p vervet-handles --lib --tests || return
    began=$SECONDS
    run "${with[@]}" test "${how[@]}" -p vervet-parking -p vervet-handles --lib --tests
    run "${with[@]}" test "${how[@]}" "${heap[@]}" -- --skip machine:: --skip parked::
}

asan() {
    with_sanitizer address "${usual[@]}"
    # Leaks: what is made lives as long as the process. Faults: tests have handlers of their own, on stacks of their own. Locals stay on
    # the stack, where a collector looks for references.
    export ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:\
use_sigaltstack=0:${ASAN_OPTIONS:-}"
    local tests=(-q --profile ci --target "$target" -p vervet-os -p vervet-parking -p vervet-handles -p vervet-heap
        -p vervet-metadata -p vervet-binder --lib)
    local large=(-q --profile ci --target "$target" -p vervet-runtime -p vervet-icalls -p vervet-fuzz --lib --tests --bins)
    build "${with[@]}" test --no-run "${tests[@]}" || return
    build "${with[@]}" test --no-run "${large[@]}" || return
    began=$SECONDS
    run "${with[@]}" test "${tests[@]}"
    run "${with[@]}" test -q --profile ci --target "$target" -p vervet-handles --tests
    run "${with[@]}" test "${large[@]}"
    # What C hosts have from the library, freed or overrun.
    build cargo build --quiet --profile ci -p vervet -p vervet-embedding || return
    # (One of them looks at what the process grows by.)
    ASAN_OPTIONS+=:quarantine_size_mb=2 HOST_FLAGS=-fsanitize=address run tests/embedding.sh
}

[ $# -gt 0 ] || set -- miri tsan asan
for lane; do
    case $lane in
        miri | tsan | asan)
            echo "$lane"
            from=$SECONDS
            # (What a lane exports is its own.)
            (began=$SECONDS; $lane; exit $errors) || errors=$((errors + $?))
            echo "  $lane took $((SECONDS - from)) s"
            ;;
        *) echo "tests/sanitizers.sh: no lane is called $lane" >&2; exit 2 ;;
    esac
done
[ "$errors" -eq 0 ] || { echo "$errors failed"; exit 1; }
