#!/bin/bash
# Compiles programs of mcs/tests (Debian's source package of mono) into .cache/mcs-tests, as that suite's Makefile and driver do.
#
#   tests/conformance/build-mcs-tests.sh all        every program
#   tests/conformance/build-mcs-tests.sh sample     every fourth
#
# mcs.exe runs on $VERVET (target/ci/vervet if that is not set), once for many programs (tests/compile/CompileSuite.cs). Prints the names of the
# programs, in ordinal order, to .cache/mcs-tests/PROGRAMS.all or .sample.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
which=$1
source=$root/.cache/mono-src/mcs/tests
work=$root/.cache/mcs-tests
vervet=${VERVET:-${CARGO_TARGET_DIR:-$root/target}/ci/vervet}
export LC_ALL=C.UTF-8

"$root/tests/fetch-mono-sources.sh"

# The suite is compiled where its sources are, in a copy; the stamp says that its libraries are there.
compiler=("$root"/tests/compile/{CompileSuite,Compiler}.cs)
if [ ! -e "$work/.libraries" ] || [ -n "$(find "${compiler[@]}" -newer "$work/.libraries")" ]; then
    rm -rf "$work"
    mkdir -p "$work"
    cp -r "$source/." "$work"
    cd "$work"
    for il in *-lib.il dlls/test-883.il; do ilasm /dll "/out:${il%.il}.dll" "$il" > /dev/null; done
    library() { mcs -noconfig -nologo -r:/usr/lib/mono/4.5/mscorlib.dll -t:library "$@" > /dev/null; }
    library -out:dlls/test-679-2/test-679-lib-2.dll dlls/test-679-2/test-679-lib-2.cs
    library -out:dlls/test-679-1/test-679-lib.dll -r:dlls/test-679-2/test-679-lib-2.dll dlls/test-679-1/test-679-lib.cs
    signed() { library -keyfile:key.snk -publicsign "$@"; }
    signed -out:dlls/test-939-common.dll dlls/test-939-common.cs
    signed -out:dlls/test-939-1/test-939-lib.dll dlls/test-939-1/test-939-lib.cs
    signed -out:dlls/test-939-1/test-939-ref.dll -r:dlls/test-939-1/test-939-lib.dll dlls/test-939-1/test-939-ref.cs
    signed -out:dlls/test-939-2/test-939-lib.dll -r:dlls/test-939-common.dll dlls/test-939-2/test-939-lib.cs
    mcs -nologo -r:System.Core.dll -out:CompileSuite.exe "${compiler[@]}"
    touch .libraries
fi
cd "$work"

# Sources that are a part of another, and the few that Debian's own tools cannot compile (or that are none).
find . -maxdepth 1 -name '*test-*.cs' -printf '%f\n' | sort | grep -vE -- '-(lib|mod|p2)\.cs$' |
    grep -vxE '(test-(534|616|679|883)|gtest-230|gtest-partial-04-p2|test-657-p2|test-pattern-0[2457])\.cs' |
    case $which in
        sample) awk 'NR % 4 == 1' ;;
        *) cat ;;
    esac > "PROGRAMS.$which"

# One process after the other: programs share sources, which the second would find half compiled.
"$vervet" CompileSuite.exe /usr/lib/mono/4.5/mcs.exe < "PROGRAMS.$which" > compile.log 2>&1 || { tail -n 20 compile.log >&2; exit 1; }
echo "build-mcs-tests: $(wc -l < "PROGRAMS.$which") programs, $(find . -maxdepth 1 -name '*.failed' | wc -l) not compiled"
