#!/bin/bash
# Times the collector beside its peers: every program of benches/gc under every runtime there is, in turn, RUNS (5) times.
#
#   benches/gc.sh VERVET [PROGRAM...]     `-` for VERVET leaves it out; PROGRAM is a name in benches/gc, default all
#   VARIANTS='opt opt' benches/gc.sh …    runs NewObject once more under Vervet with each of these options
#
# A program prints `name value unit` and checks its own result; a run that fails counts for nothing and is said.
# The table shows medians, what Vervet takes of Mono's and CoreCLR's, and whether benches/gc/aims.txt is met; every
# single value is in .cache/benches/gc/values.tsv. `peak-*` is the largest resident set. A peer that is missing is
# skipped, and said so. Without a quiet machine the pauses mean little: `pause-natural-noise` says how little.
set -uo pipefail

runs=${RUNS:-5}
[ "${1:-}" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
[ "$1" = - ] && vervet= || vervet=$(realpath "$1")
shift
cd "$(dirname "$0")/.." || exit 1
root=$PWD out=$PWD/.cache/benches/gc src=$PWD/benches/gc probe=NewObject
mkdir -p "$out"

# ---- the runtimes --------------------------------------------------------------------------------------------------

. benches/peers.sh

cc -O2 -o "$out/measure" benches/measure.c || exit 1
for source in "$src"/*.cs; do
    name=$(basename "$source" .cs)
    case $name in Bench|Graph) continue ;; esac
    [ "$out/$name.exe" -nt "$source" ] && [ "$out/$name.exe" -nt "$src/Bench.cs" ] && [ "$out/$name.exe" -nt "$src/Graph.cs" ] && continue
    mcs -nologo -optimize -langversion:latest -warn:0 -r:System.Core.dll "-out:$out/$name.exe" \
        "$source" "$src/Bench.cs" "$src/Graph.cs" || exit 1
done

find_runtimes
if ! command -v go > /dev/null; then skipped 'go is not installed'
elif (cd "$src/go" && go build -o "$out/gobench" .); then runtimes+=(go)
else skipped 'the Go programs do not compile'; fi
if ! command -v javac > /dev/null; then skipped 'a JDK is not installed'
elif javac -d "$out/java" "$src/java/Bench.java"; then runtimes+=(java)
else skipped 'the Java programs do not compile'; fi

# ---- running -------------------------------------------------------------------------------------------------------

values=$out/values.tsv
: > "$values"

# Mono's log has a line with `stw 1.23ms` for each stop: gives the longest of each part of Pauses, and the minor p99.
mono_log() {
    awk '/^# /{ part = $2 }
        part && /GC_(MINOR|MAJOR).*stw/ {
            match($0, /stw [0-9.]+ms/); ms = substr($0, RSTART + 4, RLENGTH - 6) + 0
            if (ms > most[part]) most[part] = ms
            if (part == "natural" && /GC_MINOR/) minor[++n] = ms
        }
        END {
            for (p in most) print "pause-" p "-events-longest", most[p], "ms"
            for (i = 2; i <= n; i++) { v = minor[i]; for (j = i - 1; j > 0 && minor[j] > v; j--) minor[j + 1] = minor[j]; minor[j + 1] = v }
            if (n) print "pause-minor-events-p99", minor[int(n * 0.99) ? int(n * 0.99) : 1], "ms"
        }' "$1"
}

# Vervet's log (--gc-debug=log) has a line `gc N minor|major pause_us=1.2 …` for each stop: the same of it.
vervet_log() {
    sed -nE -e '/^# /p' -e 's/^gc [0-9]+ (minor|major) pause_us=([0-9.]+) .*/\1 \2/p' "$1" |
        awk '$1 == "minor" || $1 == "major" { printf "GC_%s stw %.4fms\n", toupper($1), $2 / 1000; next } { print }' > "$1.stops"
    mono_log "$1.stops"
}

# label, program, its argument or nothing, command...
run() {
    local label=$1 program=$2 argument=$3 code; shift 3
    rm -f "$out/memory"
    timeout 600 "$out/measure" "$out/memory" "$@" > "$out/stdout" 2> "$out/stderr" < /dev/null
    code=$?
    if [ $code != 0 ]; then
        echo "$program${argument:+ $argument} under $label: code $code: $(grep -m1 . "$out/stderr" | cut -c1-160)"
        return
    fi
    {   grep -E '^[a-z][^ ]* [0-9.]+ [A-Za-z]+$' "$out/stdout"
        case $label-$program in mono-Pauses) mono_log "$out/stdout" ;; vervet-Pauses) vervet_log "$out/stdout" ;; esac
        sed "s/^peak-memory/peak-$program${argument:+-$argument}/" "$out/memory"
    } | awk -v OFS='\t' -v r="$label" '{ print r, $1, $2, $3 }' >> "$values"
}

program() { # name, its argument or nothing
    local name=$1 argument=${2:-} log=() option r
    [ "$name" = Pauses ] && log=(env MONO_LOG_LEVEL=info MONO_LOG_MASK=gc)
    for r in "${runtimes[@]}"; do
        # shellcheck disable=SC2086
        case $r in
            vervet)  if [ "$name" = Pauses ]; then
                         # The log goes to the error stream: between the program's lines.
                         run vervet "$name" "$argument" sh -c 'exec "$@" 2>&1' sh "$vervet" --gc-debug=log "$out/$name.exe"
                     else run vervet "$name" "$argument" "$vervet" "$out/$name.exe" $argument; fi
                     [ "$name" = NewObject ] && for option in ${VARIANTS:-}; do
                         run "vervet $option" "$name" "$argument" "$vervet" "$option" "$out/$name.exe" $argument
                     done ;;
            mono)    run mono "$name" "$argument" "${log[@]}" mono "$out/$name.exe" $argument ;;
            coreclr) run coreclr "$name" "$argument" "$host" exec --runtimeconfig "$root/.cache/coreclr/bench.json" "$out/$name.exe" $argument ;;
            go|java) case $name in
                         BinaryTrees|HashMap|LiveGraph)
                             if [ "$r" = go ]; then run go "$name" "$argument" "$out/gobench" "$name" $argument
                             else run java "$name" "$argument" java -cp "$out/java" Bench "$name" $argument; fi ;;
                     esac ;;
        esac
    done
}

programs=("$@")
[ $# -gt 0 ] || programs=(NewObject WeakReferences Handles ManyHandles Locks BinaryTrees LinkedList HashMap Strings LiveGraph Pauses)
for ((i = 0; i < runs; i++)); do
    for name in "${programs[@]}"; do
        case $name in
            BinaryTrees) program BinaryTrees 18; program BinaryTrees 20 ;;
            *) program "$name" ;;
        esac
    done
done

# ---- the table -----------------------------------------------------------------------------------------------------

sort -t $'\t' -k2,2 -k1,1 -k3,3g "$values" | awk -F '\t' -v aims="$src/aims.txt" -v order="$values" -v runs="$runs" \
    -f benches/table.awk
