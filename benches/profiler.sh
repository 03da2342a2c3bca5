#!/bin/bash
# Measures what a recording costs, beside mono in the same mode: RUNS (7) turns, every mode and runtime in each.
#
#   benches/profiler.sh VERVET   `-` for VERVET leaves it out
#
# First table: what work takes while a recording samples it, by what it takes without one. For every figure of
# benches/profiler/Costs.cs the median of its values with the mode is divided by the median without; the table shows the geometric
# mean of these, and the figures. Second table: what one recorded event adds. Every value is in .cache/benches/profiler/values.tsv.
set -uo pipefail

runs=${RUNS:-7}
[ "${1:-}" ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
[ "$1" = - ] && vervet= || vervet=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
out=$PWD/.cache/benches/profiler src=$PWD/benches/profiler
mkdir -p "$out"
[ "$out/Costs.exe" -nt "$src/Costs.cs" ] && [ "$out/Costs.exe" -nt benches/gc/Bench.cs ] ||
    mcs -nologo -optimize -langversion:latest -warn:0 "-out:$out/Costs.exe" "$src/Costs.cs" benches/gc/Bench.cs || exit 1

values=$out/values.tsv
: > "$values"
run() { # label, mode, arguments, command...
    local label=$1 mode=$2 arguments=$3 options=(); shift 3
    [ "$mode" = off ] || options=("--profile=log:nodefaults,$mode,output=$out/recording.mlpd")
    rm -f "$out/recording.mlpd"
    # shellcheck disable=SC2086
    if ! timeout 600 "$@" "${options[@]}" "$out/Costs.exe" $arguments > "$out/stdout" 2> "$out/stderr" < /dev/null; then
        echo "$label $mode: failed: $(grep -m1 . "$out/stderr" | cut -c1-160)"
        return
    fi
    [ "$mode" = off ] || [ -s "$out/recording.mlpd" ] || { echo "$label $mode: recorded nothing"; return; }
    awk -v OFS='\t' -v r="$label" -v m="$mode" '/^[a-z][^ ]* [0-9.]+ [A-Za-z]+$/ { print r, m, $1, $2 }' "$out/stdout" >> "$values"
}
command -v mono > /dev/null && peer=mono || { peer=; echo 'mono is not installed: skipped'; }
sampled=(sample=100 sample=1000 sample-real=100 sample-real=1000) ours=(allocsample waits)
for ((i = 0; i < runs; i++)); do
    for mode in off "${sampled[@]}" "${ours[@]}"; do
        [ -z "$vervet" ] || run vervet "$mode" 1 "$vervet"
        [ -z "$peer" ] || [[ " ${ours[*]} " == *" $mode "* ]] || run mono "$mode" 1 mono
    done
    for mode in off calls alloc; do
        [ -z "$vervet" ] || run vervet "$mode" '1 1' "$vervet"
        [ -z "$peer" ] || run mono "$mode" '1 1' mono
    done
done

sort -t $'\t' -k1,1 -k2,2 -k3,3 -k4,4g "$values" | awk -F '\t' -v runs="$runs" -v modes="${sampled[*]} ${ours[*]}" '
    { key = $1 SUBSEP $2 SUBSEP $3; if (key != last) { flush(); last = key; count = 0 } v[++count] = $4 }
    function flush() { if (last != "") m[last] = v[int((count + 1) / 2)] }
    function percent(r, mode,   i, f, product, n, line) {
        product = 1; n = 0; line = ""
        for (i = 1; i <= figures; i++) {
            f = figure[i]
            if (!((r, mode, f) in m)) return "-"
            product *= m[r, mode, f] / m[r, "off", f]; n++
            line = line sprintf(" %10.1f", 100 * (m[r, mode, f] / m[r, "off", f] - 1))
        }
        return sprintf("%8.1f %s", 100 * (product ^ (1 / n) - 1), line)
    }
    function added(r, mode, f) { return (r, mode, f) in m ? sprintf("%.0f", m[r, mode, f] - m[r, "off", f]) : "-" }
    END {
        flush()
        figures = split("words trees arithmetic lock handle", figure, " ")
        printf "%-26s %8s  %10s %10s %10s %10s %10s\n", "per cent, median of " runs, "mean", "words", "trees", "arithmetic", "lock", "handle"
        all = split(modes, name, " ")
        for (k = 1; k <= all; k++) for (r = 1; r <= 2; r++) {
            runtime = r == 1 ? "vervet" : "mono"
            line = percent(runtime, name[k])
            if (line != "-") printf "%-26s %s\n", name[k] " " runtime, line
        }
        printf "\n%-26s %8s %8s\n", "ns an event", "vervet", "mono"
        printf "%-26s %8s %8s\n", "calls: enter and leave", added("vervet", "calls", "call"), added("mono", "calls", "call")
        printf "%-26s %8s %8s\n", "alloc", added("vervet", "alloc", "allocate"), added("mono", "alloc", "allocate")
    }'
