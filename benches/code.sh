#!/bin/bash
# Times compiled code beside its peers: every program of benches/code under every runtime there is, in turn, RUNS (5) times.
#
#   benches/code.sh VERVET [PROGRAM...]   `-` for VERVET leaves it out; PROGRAM is a name in benches/code, default all
#
# A program prints `name value unit` and checks its own result; a run that fails counts for nothing and is said.
# The table shows medians, what Vervet takes of Mono's and CoreCLR's, and whether benches/code/aims.txt is met; every
# single value is in .cache/benches/code/values.tsv. A peer that is missing is skipped, and said so. ARGUMENT is given
# to every program: how often it does things (Programs: which of them run; WarmUp: seconds). WarmUp runs Vervet without kept code.
set -uo pipefail

runs=${RUNS:-5}
[ "${1:-}" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
[ "$1" = - ] && vervet= || vervet=$(realpath "$1")
shift
cd "$(dirname "$0")/.." || exit 1
root=$PWD out=$PWD/.cache/benches/code src=$PWD/benches/code probe=Calls
mkdir -p "$out"
. benches/peers.sh

programs=("$@") all=(Calls Library Programs WarmUp)
[ $# -gt 0 ] || programs=("${all[@]}")
for name in "${all[@]}"; do
    sources=("$src/$name.cs" benches/gc/Bench.cs) main=$name
    [ "$name" = WarmUp ] && sources+=("$src/Programs.cs")
    [ -e "$out/$name.exe" ] && [ -z "$(find "${sources[@]}" -newer "$out/$name.exe")" ] && continue
    mcs -nologo -optimize -langversion:latest -warn:0 -r:System.Core.dll -r:System.Numerics.dll "-main:$main" "-out:$out/$name.exe" "${sources[@]}" || exit 1
done

# .NET 8, or where there is none CoreCLR 3.1.
runtimes=() clr=()
[ -n "$vervet" ] && runtimes+=(vervet)
if command -v mono > /dev/null; then runtimes+=(mono); else skipped 'mono is not installed'; fi
if coreclr_8; then
    runtimes+=(coreclr)
elif coreclr; then
    clr=("$host" exec --runtimeconfig "$root/.cache/coreclr/bench.json")
    runtimes+=(coreclr)
else
    skipped 'neither .NET 8 (dotnet) nor CoreCLR 3.1 (Python package dotnetcore2) is to be had'
fi

values=$out/values.tsv
: > "$values"
run() { # label, program, command...
    local label=$1 program=$2 code; shift 2
    # shellcheck disable=SC2086
    timeout 600 "$@" "$out/$program.exe" ${ARGUMENT:-} > "$out/stdout" 2> "$out/stderr" < /dev/null
    code=$?
    if [ $code != 0 ]; then
        echo "$program under $label: code $code: $(grep -m1 . "$out/stderr" | cut -c1-160)"
        return
    fi
    awk -v OFS='\t' -v r="$label" '/^[a-z][^ ]* [0-9.]+ [A-Za-z]+$/ { print r, $1, $2, $3 }' "$out/stdout" >> "$values"
}
for ((i = 0; i < runs; i++)); do
    for name in "${programs[@]}"; do
        for r in "${runtimes[@]}"; do
            case $r in
                vervet)
                    # No code is kept from the run before: what is measured is a program's first run.
                    [ "$name" = WarmUp ] && rm -rf "$out/cold"
                    own=() && [ "$name" = WarmUp ] && own=(env "VERVET_CACHE_DIR=$out/cold")
                    run vervet "$name" "${own[@]}" "$vervet" ;;
                mono)    run mono "$name" mono ;;
                coreclr) run coreclr "$name" "${clr[@]}" ;;
            esac
        done
    done
done

sort -t $'\t' -k2,2 -k1,1 -k3,3g "$values" | awk -F '\t' -v aims="$src/aims.txt" -v order="$values" -v runs="$runs" \
    -f benches/table.awk
