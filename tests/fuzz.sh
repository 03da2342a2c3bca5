#!/bin/bash
# Fuzzes for SECONDS a target: all of them, or those that are named. Inputs that find something are kept in .cache/fuzz.
#
#   tests/fuzz.sh 60                     every target for a minute
#   tests/fuzz.sh 600 types image        two of them for ten minutes each
#   SEED=7 tests/fuzz.sh 60 config       the cases of that seed
#   target/ci/vervet-fuzz --input FILE TARGET    one input again
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:?tests/fuzz.sh SECONDS [TARGET...]}
shift
cargo build --profile ci -p vervet-fuzz -p vervet
build=${CARGO_TARGET_DIR:-target}/ci
export VERVET=${VERVET:-$build/vervet}
exec "$build/vervet-fuzz" --seconds "$seconds" ${SEED:+--seed "$SEED"} --findings .cache/fuzz "$@"
