#!/bin/bash
# Runs unit tests under Miri, which watches what they do to memory: undefined behaviour, and aliasing (Tree Borrows).
#
#   tests/sanitizers.sh [miri]      parking, and the chunks of os
#
# The words of GC handles are not among it: they lie in a range of 36 GiB, which Miri would hold.
# Without a nightly toolchain that has Miri the lane is skipped, in words. Artefacts go to $SANITIZERS_DIR (target/sanitizers).
set -uo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
artefacts=${SANITIZERS_DIR:-$root/target/sanitizers}
export PROPTEST_CASES=${PROPTEST_CASES:-4}
errors=0

run() {
    echo "  $*"
    "$@" || { echo "  FAILED: $*"; errors=$((errors + 1)); }
}

miri() {
    if ! cargo +nightly miri --version > /dev/null 2>&1; then
        echo "  skipped: no nightly toolchain with miri"
        return
    fi
    # Memory is known by addresses, so pointers are made of integers; what is made lives as long as the process.
    export MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-disable-isolation -Zmiri-ignore-leaks ${MIRIFLAGS:-}"
    export CARGO_TARGET_DIR=$artefacts/miri
    run cargo +nightly miri test -q -p vervet-parking --lib
    run cargo +nightly miri test -q -p vervet-os --lib -- chunks
}

for lane in "${@:-miri}"; do
    case $lane in
        miri) echo "$lane"; miri ;;
        *) echo "tests/sanitizers.sh: no lane is called $lane" >&2; exit 2 ;;
    esac
done
[ "$errors" -eq 0 ] || { echo "$errors failed"; exit 1; }
