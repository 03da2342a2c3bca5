#!/bin/bash
# Times benches/programs under the given runtime and under mono, in one run: medians of RUNS (7) with their range, in milliseconds, and the
# ratio. benches/start.sh times how programs start.
#
# A peer that is not installed is skipped, and said so.
set -uo pipefail

vervet=$(realpath "$1")
runs=${RUNS:-7}
cd "$(dirname "$0")/.."
out=.cache/benches
mkdir -p "$out"

once() { # command...: milliseconds, or nothing
    local start end
    start=$(date +%s%N)
    timeout 120 "$@" > "$out/last.out" 2>&1 || return 1
    end=$(date +%s%N)
    echo $(((end - start) / 1000))
}
median() { sort -n | awk '{ v[NR] = $1 / 1000 } END { if (NR) printf "%.1f (%.1f-%.1f)", v[int((NR + 1) / 2)], v[1], v[NR] }'; }

# name, then the two commands, each a string
pair() {
    local name=$1 ours=$2 theirs=$3 i a=$out/a b=$out/b
    : > "$a"; : > "$b"
    for ((i = 0; i < runs; i++)); do
        # shellcheck disable=SC2086
        once $ours >> "$a" || { printf '%-14s failed: %s\n' "$name" "$ours"; return; }
        # shellcheck disable=SC2086
        [ -z "$theirs" ] || once $theirs >> "$b" || theirs=
    done
    printf '%-14s %22s %22s %6s\n' "$name" "$(median < "$a")" "$(median < "$b")" \
        "$(paste <(sort -n "$a" | sed -n "$(((runs + 1) / 2))p") <(sort -n "$b" | sed -n "$(((runs + 1) / 2))p") | awk '$2 { printf "%.2f", $1 / $2 }')"
}

command -v mono > /dev/null && mono=mono || { mono=; echo "mono is not installed: skipped"; }
printf '%-14s %22s %22s %6s\n' 'programs' 'vervet ms' 'mono ms' ratio
for source in benches/programs/*.cs; do
    name=$(basename "$source" .cs)
    mcs -nologo -optimize -langversion:latest -r:System.Core.dll "-out:$out/$name.exe" "$source" || exit 1
    if [ -n "$mono" ] && ! cmp -s <("$vervet" "$out/$name.exe" 2>&1) <($mono "$out/$name.exe" 2>&1); then
        echo "$name: the output differs from mono's"
    fi
    pair "$name" "$vervet $out/$name.exe" "${mono:+$mono $out/$name.exe}"
done
