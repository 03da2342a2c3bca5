#!/bin/bash
# Compiles the programs on standard input (CompileBatch.cs says what a line is) with mono's mcs, in as many processes as there are processors.
#
# A program that is not there afterwards has errors, or ended the compiler: who calls this compiles it by itself, and says what is wrong.
# ilasm is no such library: what it keeps of one program changes the next.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$here/../.." && pwd)/.cache/compile
list=$(cat)
[ -n "$list" ] || exit 0
mkdir -p "$out"
batch=$out/CompileBatch.exe
[ -e "$batch" ] && [ -z "$(find "$here" -name '*.cs' -newer "$batch")" ] ||
    mcs -nologo -r:System.Core.dll "-out:$batch" "$here/CompileBatch.cs" "$here/Compiler.cs"
processes=$(nproc)
for process in $(seq 0 $((processes - 1))); do
    awk -v n="$processes" -v p="$process" 'NR % n == p' <<< "$list" | mono "$batch" /usr/lib/mono/4.5/mcs.exe > "$out/$process.log" 2>&1 || true &
done
wait
