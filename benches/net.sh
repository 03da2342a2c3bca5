#!/bin/bash
# Times sockets beside their peers: an echo over loopback with 1, 100 and 1,000 connections, with a thread at each end and with
# tasks, under every runtime there is, in turn, RUNS (5) times; in C with threads.
#
#   benches/net.sh VERVET       `-` for VERVET leaves it out
#   CONNECTIONS='1 100' ROUNDTRIPS=20000 benches/net.sh VERVET
#
# A program prints `name value unit` and checks its own result; a run that fails counts for nothing and is said.
# The table shows medians, what Vervet takes of each peer's, and whether benches/net/aims.txt is met; every single value
# is in .cache/benches/net/values.tsv. A peer that is missing is skipped, and said so.
set -uo pipefail

runs=${RUNS:-5} connections=${CONNECTIONS:-1 100 1000} roundtrips=${ROUNDTRIPS:-40000}
[ "${1:-}" ] || { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; }
[ "$1" = - ] && vervet= || vervet=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
root=$PWD out=$PWD/.cache/benches/net src=$PWD/benches/net
probe=Echo probe_arguments='sync 1 100'
mkdir -p "$out"
. benches/peers.sh

# ---- the runtimes --------------------------------------------------------------------------------------------------

mcs -nologo -optimize -langversion:latest -warn:0 -r:System.Core.dll "-out:$out/Echo.exe" \
    "$src/Echo.cs" benches/green/GreenThreads.cs benches/gc/Bench.cs || exit 1
cc -O2 -pthread -o "$out/echo" "$src/echo.c" || exit 1
find_runtimes

# ---- running -------------------------------------------------------------------------------------------------------

values=$out/values.tsv
: > "$values"

run() { # label, command...
    local label=$1 code; shift
    timeout 300 "$@" > "$out/stdout" 2> "$out/stderr" < /dev/null
    code=$?
    if [ $code != 0 ]; then
        echo "$label: ${*: -3}: code $code: $(grep -m1 . "$out/stderr" | cut -c1-160)"
        return
    fi
    grep -E '^[a-z][^ ]* [0-9.]+ [A-Za-z]+$' "$out/stdout" | awk -v OFS='\t' -v r="$label" '{ print r, $1, $2, $3 }' >> "$values"
}

for ((i = 0; i < runs; i++)); do
    for n in $connections; do
        for way in sync async; do
            for r in "${runtimes[@]}"; do
                case $r in
                    vervet)  run vervet "$vervet" "$out/Echo.exe" $way "$n" "$roundtrips" ;;
                    mono)    run mono mono "$out/Echo.exe" $way "$n" "$roundtrips" ;;
                    coreclr) run coreclr "$host" exec --runtimeconfig "$root/.cache/coreclr/bench.json" "$out/Echo.exe" $way "$n" "$roundtrips" ;;
                esac
            done
        done
        run c "$out/echo" "$n" "$roundtrips"
    done
done

# ---- the table -----------------------------------------------------------------------------------------------------

sort -t $'\t' -k2,2 -k1,1 -k3,3g "$values" | awk -F '\t' -v aims="$src/aims.txt" -v order="$values" -v runs="$runs" '
    function ratio(a, b) { return a == "" || b == "" || b == 0 ? "-" : sprintf("%.2f", a / b) }
    function show(x) { return x == "" ? "-" : x >= 100 ? sprintf("%.0f", x) : sprintf("%.3g", x) }
    function best(f,   a, b) { a = m["mono", f]; b = m["coreclr", f]; return a == "" ? b : b == "" || a < b ? a : b }
    function verdict(f,   w, base) {
        if (!split(wanted[f], w, " ") || m["vervet", f] == "") return ""
        base = w[1] == "best" ? best(f) : m[w[1], f]
        if (base == "") return ""
        return (m["vervet", f] / base <= w[2] + 0 ? "met" : "MISSED") " (" w[2] " of " w[1] ")"
    }
    function flush() { if (last != "") m[last] = v[int((count + 1) / 2)] + 0 }
    BEGIN {
        while ((getline line < aims) > 0) if (line !~ /^#/ && split(line, w, " ") == 3) wanted[w[1]] = w[2] " " w[3]
        while ((getline line < order) > 0) { split(line, w, "\t"); if (!(w[2] in place)) { place[w[2]] = ++figures; name[figures] = w[2] } }
    }
    { key = $1 SUBSEP $2; if (key != last) { flush(); last = key; count = 0 } v[++count] = $3 }
    END {
        flush()
        printf "%-18s %9s %9s %9s %9s %7s %9s %7s  %s\n", "us, median of " runs, "vervet", "mono", "coreclr", "c", "/mono", "/coreclr", "/c", "aim"
        for (i = 1; i <= figures; i++) {
            f = name[i]
            printf "%-18s %9s %9s %9s %9s %7s %9s %7s  %s\n", f, show(m["vervet", f]), show(m["mono", f]), show(m["coreclr", f]), show(m["c", f]),
                ratio(m["vervet", f], m["mono", f]), ratio(m["vervet", f], m["coreclr", f]), ratio(m["vervet", f], m["c", f]), verdict(f)
        }
    }'
