#!/bin/bash
# Builds all that the suites run: the command, the library, the tools and the example of the embedding crate. Arguments go to cargo.
#
# All of it is built at once, and an example is among it, so that cargo chooses the features that `cargo test --workspace` has: a package built with
# others is built again, and with it everything that stands on it.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo build --profile ci --workspace --lib --bins --example game "$@"
