#!/bin/bash
# Times the calls between a host and managed code (benches/embed.c) on the embedding library and on mono's.
#
#   benches/embed.sh LIBRARY     libvervet_embedding.so of a release build
#
# The table shows nanoseconds a call, the least of nine rounds, and what Vervet takes of mono's. Without mono's library there is one column.
set -euo pipefail

[ $# -eq 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
library=$(realpath "$1")
cd "$(dirname "$0")/.."
out=$PWD/.cache/benches/embed
mkdir -p "$out"
packaging/library.sh "$library" "$out/lib"
cc -O2 -w -Iinclude benches/embed.c -o "$out/embed" -L"$out/lib" -lvervet
mcs -nologo -warn:0 "-out:$out/Lib.exe" tests/embedding/Lib.cs
mono=/usr/lib/libmonosgen-2.0.so.1
# A program of its own: one that is linked with libvervet finds it first, whatever the path says.
[ ! -e $mono ] || cc -O2 -w -Iinclude benches/embed.c -o "$out/embed-mono" $mono
cd "$out"
LD_LIBRARY_PATH=$out/lib ./embed > vervet.txt
if [ -e $mono ]; then
    ./embed-mono > mono.txt
    paste -d'|' vervet.txt mono.txt | awk -F'|' 'BEGIN { printf "%-24s %10s %10s %8s\n", "ns a call", "Vervet", "mono", "ratio" }
        { v = $1; sub(/.* /, "", v); m = $2; sub(/.* /, "", m); n = $1; sub(/ +[0-9.]+$/, "", n); printf "%-24s %10.1f %10.1f %8.2f\n", n, v, m, v / m }'
else
    cat vervet.txt
fi
