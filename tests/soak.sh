#!/bin/bash
# The long tests, for as long as asked, on the release build: `tests/soak.sh [MINUTES] [LANE...]` (default: 60, all lanes).
#
# Each lane gets a share of the time (the table below), and says at the end what it did: a table of lanes, seconds, what was
# found and counts. What needs something this machine or this tree has not got is skipped, or absent, in words: it counts as nothing
# found, but not as run. The exit code is 0 if nothing was found. Everything that a lane printed is in .cache/soak/LANE.log.
#
#   SOAK_MINUTES=60 make soak
#   tests/soak.sh 5 program-verify sockets     two lanes, for five minutes together
#   SEED=7 tests/soak.sh 10 random             the random programs from that seed on
#   VERVET=target/ci/vervet tests/soak.sh 5    another build of the runtime
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
minutes=${1:-${SOAK_MINUTES:-60}}
[ $# = 0 ] || shift
out=$PWD/.cache/soak
mkdir -p "$out"
target=${CARGO_TARGET_DIR:-$PWD/target}
export MONO_GC_PARAMS=${MONO_GC_PARAMS:-max-heap-size=2g}
# No test reads or writes the user's own cache of compiled code.
export VERVET_CACHE=${VERVET_CACHE-off}

# ---- lanes: name and parts of the whole ------------------------------------------------------------------------------

lanes() {
    cat << 'TABLE'
program         12
program-verify  12
program-small    6
program-collect  6
sockets          4
domains          6
domains-verify   6
green            6
green-verify     6
green-collect    4
green-stops      4
sampled          6
green-sampled    4
stress           8
marking          6
collections      6
stops            6
no-membarrier    4
release          4
behaviour        3
miri             4
tsan             4
asan             4
fuzz            10
random          10
TABLE
}

# What a program said and counted; whether it found nothing. $1 the name of its output, $2 its exit code, $3 its seed.
judge() {
    cat "$out/$1.stdout"
    sed -nE 's/^(minor|major) pauses +([0-9]+):.*/count \1-pauses \2/p; s/^stops +([0-9]+);.*/count stops \1/p' "$out/$1.stderr"
    if [ "$2" != 0 ] || ! grep -qx ok "$out/$1.stdout"; then
        echo "FOUND: exit code $2, seed $3"
        head -c 60000 "$out/$1.stderr"
        return 1
    fi
}

# tests/soak/Soak.cs for so many seconds: $1 seconds, $2 its workers (empty: all), $3 more of MONO_GC_PARAMS, then options.
soak_program() {
    local seconds=$1 workers=$2 params=$3 seed=${SEED:-$((RANDOM * 32768 + RANDOM))}; shift 3
    echo "seed $seed: $VERVET $* Soak.exe $seconds $seed $workers"
    # shellcheck disable=SC2086
    (cd "$out" && MONO_GC_PARAMS=$MONO_GC_PARAMS$params timeout -k 5 $((seconds + 180)) \
        "$VERVET" --stats "$@" Soak.exe "$seconds" "$seed" $workers) > "$out/program.stdout" 2> "$out/program.stderr" < /dev/null
    judge program $? "$seed"
}
lane_program()         { soak_program "$1" '' ''; }
lane_program-verify()  { soak_program "$1" '' '' --gc-debug=verify; }
lane_program-small()   { soak_program "$1" '' ,nursery-size=256k --gc-debug=verify; }
lane_program-collect() { soak_program "$1" '' '' --gc-debug=verify,poison,collect-every=20000,promote-in-place=4; }
lane_sockets()         { soak_program "$1" sockets,sockets-2,collect ''; }

# tests/soak/Green.cs for so many seconds, with every thread green: $1 seconds, then options.
green_program() {
    local seconds=$1 seed=${SEED:-$((RANDOM * 32768 + RANDOM))}; shift
    echo "seed $seed: $VERVET --green-threads=all $* Green.exe $seconds $seed"
    (cd "$out" && timeout -k 5 $((seconds + 240)) "$VERVET" --stats --green-threads=all "$@" Green.exe "$seconds" "$seed") \
        > "$out/green.stdout" 2> "$out/green.stderr" < /dev/null
    judge green $? "$seed"
}
lane_green()         { green_program "$1"; }
lane_green-verify()  { green_program "$1" --gc-debug=verify,perturb; }
lane_green-collect() { green_program "$1" --gc-debug=verify,poison,collect-every=20000,promote-in-place=4; }
# Stopped all the time, so that threads are stopped in every state of a switch.
lane_green-stops()   { VERVET_DEBUG_STOP_EVERY_US=1000 green_program "$1" --gc-debug=verify; }

# tests/soak/Domains.cs for so many seconds: $1 seconds, then options.
domains_program() {
    local seconds=$1 seed=${SEED:-$((RANDOM * 32768 + RANDOM))}; shift
    echo "seed $seed: $VERVET $* Domains.exe $seconds $seed"
    (cd "$out" && timeout -k 5 $((seconds + 600)) "$VERVET" --stats "$@" Domains.exe "$seconds" "$seed") \
        > "$out/domains.stdout" 2> "$out/domains.stderr" < /dev/null
    judge domains $? "$seed"
}
lane_domains()        { domains_program "$1"; }
lane_domains-verify() { domains_program "$1" --gc-debug=verify,poison,perturb; }

# Sampled ten thousand times a second; the runtime checks the samples.
lane_sampled()       { VERVET_DEBUG_SAMPLE=real,10000 soak_program "$1" '' ,nursery-size=256k --gc-debug=verify; }
lane_green-sampled() { VERVET_DEBUG_SAMPLE=real,10000 green_program "$1" --gc-debug=verify; }

lane_stress() { tests/stress/run.sh "$1"; }

# Suites of tests/run.sh, again and again until the time is over; each time counts.
repeat() { # seconds, suites...
    local end=$((SECONDS + $1)) times=0; shift
    while [ $SECONDS -lt $end ]; do
        tests/run.sh "$@" || return 1
        times=$((times + 1))
    done
    echo "count times $times"
}
lane_marking()       { PROGRAM_LIMIT=200 GC_DEBUG=verify,poison,collect-every=20000,concurrent-marking,slow-marker=20,perturb repeat "$1" managed-marking .; }
# What `make test` runs a part of.
lane_collections()   { PROGRAM_LIMIT=200 repeat "$1" managed-gc . managed-split . managed-green .; }
lane_stops()         { repeat "$1" managed-stops .; }
lane_no-membarrier() { repeat "$1" managed-no-membarrier .; }
lane_release()       { repeat "$1" managed . managed-gc . regression exceptions regression generics regression basic; }
lane_behaviour()     { repeat "$1" behaviour .; }

# A sanitizer's lane runs once, whatever its share; its tests end after $LANE_SECONDS (see tests/sanitizers.sh), its builds have
# 15 minutes. What is not reached in time was not run.
sanitizer() {
    local seconds=$1 lane=$2 code
    [ -x tests/sanitizers.sh ] || { echo "ABSENT: tests/sanitizers.sh"; return; }
    timeout -k 10 $((seconds + ${LANE_SECONDS:-600} + 900)) tests/sanitizers.sh "$lane"
    code=$?
    [ $code != 124 ] || { echo "SKIPPED: not finished in time"; return; }
    return $code
}
lane_miri() { sanitizer "$1" miri; }
lane_tsan() { sanitizer "$1" tsan; }
lane_asan() { sanitizer "$1" asan; }

lane_fuzz() {
    local count
    [ -x tests/fuzz.sh ] || { echo "ABSENT: tests/fuzz.sh"; return; }
    # It gives each target the seconds it is told.
    cargo build --profile ci -p vervet-fuzz || return 1
    count=$("$target/ci/vervet-fuzz" --list 2> /dev/null | grep -c .)
    tests/fuzz.sh $(($1 / (count > 0 ? count : 12) + 1))
}

lane_random() {
    [ -d crates/ilgen ] || { echo "ABSENT: crates/ilgen"; return; }
    cargo build --release -p vervet-ilgen || return 1
    "$target/release/vervet-ilgen" run --seconds "$1" --programs 1000000 --vervet "$VERVET" ${SEED:+--seed "$SEED"} --out "$out/random"
}

# ---- running them -----------------------------------------------------------------------------------------------------

tests/install-packages.sh test || exit 1
if [ -z "${VERVET:-}" ]; then
    cargo build --release -p vervet || exit 1
    VERVET=$target/release/vervet
fi
VERVET=$(realpath "$VERVET")
export VERVET
fresh() { [ "$1" -nt "$2" ]; }
fresh "$out/libstress.so" tests/stress/native.c ||
    cc -O2 -Wall -Werror -shared -fPIC -pthread -o "$out/libstress.so" tests/stress/native.c -lrt || exit 1
{ fresh "$out/Soak.exe" tests/soak/Soak.cs && fresh "$out/Soak.exe" tests/stress/Native.cs; } ||
    mcs -nologo -optimize -langversion:latest -warn:0 "-out:$out/Soak.exe" tests/soak/Soak.cs tests/stress/Native.cs || exit 1

fresh "$out/Green.exe" tests/soak/Green.cs ||
    mcs -nologo -optimize -langversion:latest -warn:0 -r:System.Core.dll "-out:$out/Green.exe" tests/soak/Green.cs || exit 1

fresh "$out/Domains.exe" tests/soak/Domains.cs ||
    mcs -nologo -optimize -langversion:latest -warn:0 "-out:$out/Domains.exe" tests/soak/Domains.cs || exit 1

[ $# -gt 0 ] || set -- $(lanes | awk '{ print $1 }')
parts=0
for lane; do
    part=$(lanes | awk -v l="$lane" '$1 == l { print $2 }')
    [ -n "$part" ] || { echo "tests/soak.sh: there is no lane '$lane'; there are: $(lanes | awk '{ print $1 }' | xargs)" >&2; exit 2; }
    parts=$((parts + part))
done

# One line of counts: `count NAME N` lines of the log, summed by name.
counts() {
    awk '/^count [^ ]+ -?[0-9]+$/ { if (!($2 in n)) order[++k] = $2; n[$2] += $3 }
         END { for (i = 1; i <= k; i++) printf "%s%s %d", (i > 1 ? ", " : ""), order[i], n[order[i]] }' "$1"
}

: > "$out/table"
found=0
for lane; do
    part=$(lanes | awk -v l="$lane" '$1 == l { print $2 }')
    seconds=$((minutes * 60 * part / parts))
    [ $seconds -ge 5 ] || seconds=5
    log=$out/$lane.log
    echo "soak: $lane, for $seconds s"
    began=$SECONDS
    "lane_$lane" "$seconds" > "$log" 2>&1
    code=$?
    verdict='nothing found'
    if [ $code != 0 ]; then
        verdict="FOUND (exit code $code, see ${log#"$PWD"/})"
        found=$((found + 1))
        tail -n 20 "$log" | cut -c1-200 | sed 's/^/    /'
    elif grep -q '^ABSENT: ' "$log"; then verdict=$(sed -n 's/^ABSENT: /absent: /p' "$log" | head -n 1)
    elif grep -qiE '^ *skipped: ' "$log"; then verdict=$(grep -iE '^ *skipped: ' "$log" | head -n 1 | sed 's/^ *//')
    fi
    {
        printf '%-15s %6d s  %s\n' "$lane" $((SECONDS - began)) "$verdict"
        grep -oiE '\bseeds? [0-9]+' "$log" | sort -u | head -n 4 | sed 's/^/    /'
        text=$(counts "$log")
        [ -z "$text" ] || echo "$text" | fold -s -w 120 | sed 's/^/    /'
        grep -E '^(stress|[a-z-]+: .*executions|.*programs.*differ|[0-9]+ programs)' "$log" | head -n 30 | cut -c1-160 | sed 's/^/    /'
    } >> "$out/table"
done

echo
echo "soak: $SECONDS s on $("$VERVET" --version 2> /dev/null | head -n 1)"
cat "$out/table"
[ $found = 0 ] || { echo "soak: $found lanes found something"; exit 1; }
echo "soak: nothing found"
