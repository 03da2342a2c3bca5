#!/bin/bash
# Compiles Mono's own JIT test programs into .cache/mini, one assembly per suite.
#
# Each suite is a class of methods `static int test_N_name ()` which must return N. Only what is missing or
# older than its source is compiled; a compile error is fatal, because every program compiles on Debian 12.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
src=$root/.cache/mono-src/mono/mini
out=$root/.cache/mini

"$root/tests/fetch-mono-sources.sh"
mkdir -p "$out"
cd "$out"

fresh() { [ -e "$1" ] && [ ! "$2" -nt "$1" ]; }

mcs_to() { # target, arguments...
    local target=$1; shift
    mcs -nologo -unsafe -nowarn:0168,0169,0219,0414,0649,0618,0162,0164,0251,1718,0183,0184,0429,0675,0078,0652,0067,0693,0108,0660,0661,3002,0472,0464,0109 \
        -langversion:latest "-out:$target.tmp" "$@" > "$target.log" 2>&1 || { cat "$target.log" >&2; rm -f "$target.tmp"; return 1; }
    mv "$target.tmp" "$target"; rm -f "$target.log"
}

il_to() { # target, source, flags...
    local target=$1 source=$2; shift 2
    ilasm -quiet "$@" "-output:$target.tmp" "$source" > "$target.log" 2>&1 || { cat "$target.log" >&2; return 1; }
    mv "$target.tmp" "$target"; rm -f "$target.log"
}

fresh TestDriver.dll "$src/TestDriver.cs" ||
    mcs_to TestDriver.dll -t:library "$src/TestDriver.cs" "$src/TestHelpers.cs"
for library in MemoryIntrinsics generics-variant-types; do
    fresh $library.dll "$src/$library.il" || il_to $library.dll "$src/$library.il" -dll
done
fresh iltests.exe "$src/iltests.il" || il_to iltests.exe "$src/iltests.il"

suite() { # name, extra arguments...
    local name=$1; shift
    fresh "$name.exe" "$src/$name.cs" && return
    echo "build-mini: $name"
    mcs_to "$name.exe" -r:TestDriver.dll -r:System.Core.dll "$@" "$src/$name.cs"
}

for name in basic basic-long basic-calls basic-float basic-math objects arrays exceptions gshared mixed \
            devirtualization ratests aot-tests gc-test; do
    suite "$name"
done
suite generics      -r:generics-variant-types.dll
suite unaligned     -r:MemoryIntrinsics.dll
suite builtin-types -define:ARCH_64
suite basic-simd    -r:Mono.Simd.dll
suite basic-vectors -r:System.Numerics.dll -r:System.Numerics.Vectors.dll
