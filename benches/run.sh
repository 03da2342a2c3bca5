#!/bin/bash
# Times benches/programs under the given runtime and, if it is there, under Mono: the best of five, in milliseconds.
set -uo pipefail

vervet=$(realpath "$1")
cd "$(dirname "$0")/.."
out=.cache/benches
mkdir -p "$out"

best() { # runtime, program
    local best='' start end
    for _ in 1 2 3 4 5; do
        start=$(date +%s%N)
        timeout 120 "$1" "$2" > "$2.out" 2>&1 || { echo failed; return; }
        end=$(date +%s%N)
        [ -n "$best" ] && [ $((end - start)) -ge "$best" ] || best=$((end - start))
    done
    echo $((best / 1000000))
}

printf '%-14s %10s %10s\n' program vervet mono
for source in benches/programs/*.cs; do
    name=$(basename "$source" .cs)
    mcs -nologo -optimize -langversion:latest -r:System.Core.dll "-out:$out/$name.exe" "$source" || exit 1
    other=-
    if command -v mono > /dev/null; then other=$(best mono "$out/$name.exe"); cp "$out/$name.exe.out" "$out/$name.mono"; fi
    ours=$(best "$vervet" "$out/$name.exe")
    [ "$ours" != failed ] && [ -e "$out/$name.mono" ] && ! cmp -s "$out/$name.exe.out" "$out/$name.mono" && ours='wrong output'
    printf '%-14s %10s %10s\n' "$name" "$ours" "$other"
done
