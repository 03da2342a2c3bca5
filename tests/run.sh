#!/bin/bash
# Runs the managed suites switched on in tests/suites.txt and compares each with what is expected of it.
#
# A new failure, a surprise pass and a changed count are all errors. Every program has a time limit, in seconds.
#
#   tests/run.sh                        all suites that are on
#   tests/run.sh regression basic       one suite, on or not; `regression basic managed Gc`: several, in that order
#   TEST_SHARE=all tests/run.sh         all suites that are on, and all of those of which a sample is
#   VERVET=/usr/bin/mono tests/run.sh   another runtime instead of target/ci/vervet
set -uo pipefail
shopt -s extglob

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
# A program that only allocates must not take the machine with it.
export MONO_GC_PARAMS=${MONO_GC_PARAMS:-max-heap-size=3g}
# No test reads or writes the user's own cache of compiled code, nor sees what the machine has compiled ahead.
export VERVET_CACHE=${VERVET_CACHE-off} VERVET_SYSTEM_CACHE_DIR=/nonexistent/code
# Programs that wait leave a processor to others: half as many again as there are processors run side by side.
export CACHE=$root/.cache JOBS=${JOBS:-$((($(nproc) * 3 + 1) / 2))}
export REGRESSION_LIMIT=${REGRESSION_LIMIT:-300} PROGRAM_LIMIT=${PROGRAM_LIMIT:-60}
results=$CACHE/results
mkdir -p "$results"
errors=0

fail() { echo "  FAILED: $*"; errors=$((errors + 1)); }

# How a program ended that neither passed nor failed in an orderly way; nothing if it did. No expectation excuses these: a known
# failure is a wrong answer or an exception, not a crash, an internal error or a hang.
disorder() {
    case $1 in
        70) echo "an internal error (70)" ;;
        124|137) echo "a time-out ($1)" ;;
        132|134|135|136|139) echo "signal $(($1 - 128)) ($1)" ;;
    esac
}
export -f disorder

# ---- regression: expectation file against what `--regression` reports -------------------------------------------
#
# The report has a line `Test 'test_N_name' failed result (got G, expected N).` or `… failed compilation.` per failure
# and ends with `Results: total tests: T, …`; other lines are free.

expected_count()    { awk -v s="$1" '!/^[ \t#]/ && $1 == s { print $2; exit }' tests/regression/expected.txt; }
expected_failures() {
    awk -v s="$1" '/^[ \t]*#/ { next } /^[^ \t]/ { on = $1 == s; next } on && $1 == "-" { sub(/:$/, "", $2); print $2 }' \
        tests/regression/expected.txt | sort -u
}

# Each suite runs as methods are compiled usually, and once more with everything optimised.
regression() {
    regression_with "$1" ''
    regression_with "$1" -O=all
}
regression_with() {
    local suite=$1 options=$2 log=$results/regression-$1$2.log count code passing total
    count=$(expected_count "$suite")
    [ -n "$count" ] || { fail "regression $suite has no line in tests/regression/expected.txt"; return; }
    # shellcheck disable=SC2086
    (cd "$CACHE/mini" && timeout -k 5 "$REGRESSION_LIMIT" "$VERVET" $options --regression "$suite.exe") > "$log" 2>&1 < /dev/null
    code=$?
    total=$(sed -nE 's/.*total tests: ([0-9]+).*/\1/p' "$log" | head -n 1)
    if [ -z "$total" ]; then
        fail "regression $suite ended with code $code and no result; the last lines of $log:"
        tail -n 5 "$log" | sed 's/^/    /'
        return
    fi
    [ -z "$(disorder $code)" ] || fail "regression $suite${options:+ $options} ended by $(disorder $code)"
    sed -nE "s/^Test '([^']+)' failed.*/\1/p" "$log" | sort -u > "$results/actual"
    expected_failures "$suite" > "$results/expected"
    passing=$((total - $(wc -l < "$results/actual")))
    echo "regression $suite${options:+ $options}: $passing of $total pass"
    local new surprise
    new=$(comm -23 "$results/actual" "$results/expected")
    surprise=$(comm -13 "$results/actual" "$results/expected")
    for name in $new; do fail "$suite: $name ($(grep -m1 "^Test '$name' failed" "$log" | cut -d' ' -f3-))"; done
    for name in $surprise; do fail "$suite: $name passes, but tests/regression/expected.txt says it fails"; done
    [ "$passing" = "$count" ] || fail "$suite: $passing tests pass, tests/regression/expected.txt says $count"
}

# ---- managed: our own programs in C# and IL, each with its output beside or inside it -----------------------------

# A program is C# or, `.il`, assembler. Prints one line: `ok` or what went wrong. `// mcs:`, `// args:`, `// exit:`,
# `// timeout:` tune a program, `// tiers: all` also runs it with everything optimised, and
# `// env: NAME=VALUE ...` sets its environment. `// cc: FLAGS` says that the C file of the same name beside it is a library
# that the program calls by that name. `// gc-debug: no, REASON` keeps it out of the `managed-gc` and
# `managed-marking` suites, `// green: no, REASON` out of `managed-green`, `// split: no, REASON` out of `managed-split`. `// grafts: FILES`, C# beside the program, are compiled with the runtime's own graft attribute and take
# the place of the runtime's grafts; without files the program sees the runtime's own.
# A program that is expected to end by a signal or in an internal error says why: `// exit: N, REASON`.
# With GC_DEBUG, the runtime gets `--gc-debug=$GC_DEBUG` and three times as long.
export managed_options='-nologo -langversion:latest -warn:0 -r:System.Core.dll'
# A program with unsafe code says so, and others do not: what the compiler makes of a method may depend on it.
unsafe_option() { if grep -qE '^[^/]*\<unsafe\>' "$1"; then echo -unsafe; fi; }
managed_one() {
    local source=$1 name exe flags args env code want reason limit cc library grafts tier tiers=('') debug=()
    name=${source#tests/managed/}; name=${name%.*}
    exe=$CACHE/managed/$name.exe
    mkdir -p "$(dirname "$exe")"
    flags=$(sed -n 's,^// mcs: *,,p' "$source"); args=$(sed -n 's,^// args: *,,p' "$source")
    want=$(sed -n 's,^// exit: *,,p' "$source"); limit=$(sed -n 's,^// timeout: *,,p' "$source")
    env=$(sed -n 's,^// env: *,,p' "$source"); limit=${limit:-$PROGRAM_LIMIT}
    if [ -n "${GC_DEBUG:-}" ]; then
        grep -q '^// gc-debug: no' "$source" && { echo skip; return; }
        debug=("--gc-debug=$GC_DEBUG"); limit=$((limit * 3))
    fi
    [ -z "${VERVET_DEBUG_SPLIT_STACKS:-}" ] || ! grep -q '^// split: no' "$source" || { echo skip; return; }
    [ -z "${VERVET_GREEN_THREADS:-}" ] || ! grep -q '^// green: no' "$source" || { echo skip; return; }
    [ -z "${VERVET_DEBUG_STOP_EVERY_US:-}" ] || limit=$((limit * 3))
    if cc=$(grep -m1 '^// cc:' "$source"); then
        library=$(dirname "$exe")/lib$(basename "$name").so
        if [ ! -e "$library" ] || [ "${source%.cs}.c" -nt "$library" ]; then
            # shellcheck disable=SC2086
            cc -O2 -Wall -Werror -shared -fPIC -o "$library.new" "${source%.cs}.c" ${cc#// cc:} > "$library.log" 2>&1 ||
                { echo "$name: its library does not compile: $(grep -m1 error "$library.log")"; return; }
            mv "$library.new" "$library"
        fi
    fi
    if grafts=$(grep -m1 '^// grafts:' "$source"); then
        # shellcheck disable=SC2086
        grafts=$(graft "$exe" "$(dirname "$source")" ${grafts#// grafts:}) || { echo "$name: $grafts"; return; }
        flags+=" -lib:$exe.ref"
        env+=" $grafts"
        [ "$exe" -nt "$exe.ref/mscorlib.dll" ] || rm -f "$exe"
    fi
    if [ ! -e "$exe" ] || [ "$source" -nt "$exe" ]; then
        # shellcheck disable=SC2086
        case $source in
            *.il) ilasm -quiet "-output:$exe" "$source" > "$exe.log" 2>&1 ;;
            *)    mcs $managed_options $(unsafe_option "$source") $flags "-out:$exe" "$source" > "$exe.log" 2>&1 ;;
        esac || { echo "$name: does not compile: $(grep -m1 -i error "$exe.log")"; return; }
    fi
    if [ -e "${source%.*}.expected" ]; then cp "${source%.*}.expected" "$exe.want"
    else sed -nE 's,.*// expect: ?(.*)$,\1,p' "$source" > "$exe.want"; fi
    want=${want:-0}; reason=${want#*,}; [ "$reason" != "$want" ] || reason=; want=${want%%,*}
    grep -q '^// tiers: all' "$source" && tiers+=(-O=all)
    for tier in "${tiers[@]}"; do
        # shellcheck disable=SC2086
        (cd "$(dirname "$exe")" && env $env timeout -k 5 "$limit" "$VERVET" $tier ${debug[@]+"${debug[@]}"} "$exe" $args) \
            > "$exe.stdout" 2> "$exe.stderr" < /dev/null
        code=$?
        if [ -n "$(disorder "$code")" ] && { [ "$code" != "$want" ] || [ -z "$reason" ]; }; then
            echo "$name${tier:+ $tier}: ended by $(disorder "$code"); $(grep -m1 . "$exe.stderr" | cut -c1-200)"
            return
        elif [ "$code" != "$want" ]; then
            echo "$name${tier:+ $tier}: exit code $code instead of $want; $(grep -m1 . "$exe.stderr" | cut -c1-200)"
            return
        elif ! cmp -s "$exe.want" "$exe.stdout"; then
            echo "$name${tier:+ $tier}: $(diff "$exe.want" "$exe.stdout" | sed -n 2p | cut -c1-200) (see diff ${exe#"$PWD"/}.{want,stdout})"
            return
        fi
    done
    echo ok
}
# Compiles what is not compiled yet of the sources on standard input (ended by NUL), all in a few processes. A program with grafts is left to
# `managed_one`, which needs its reference assembly first; so is one that does not compile.
compile_managed() {
    local source exe
    while IFS= read -r -d '' source; do
        exe=$CACHE/managed/${source#tests/managed/}; exe=${exe%.cs}.exe
        { [ -e "$exe" ] && [ ! "$source" -nt "$exe" ]; } || grep -q '^// grafts:' "$source" ||
            echo "$exe" $managed_options $(unsafe_option "$source") $(sed -n 's,^// mcs: *,,p' "$source") "$source"
    done | tr ' ' '\t' | tests/compile/batch.sh
}
# Compiles the grafts of a program, and writes the reference assembly that it is compiled against. Prints the environment that the
# program needs, or what went wrong.
graft() {
    local exe=$1 folder=$2 file files=() library=$1.grafts.dll; shift 2
    for file; do
        case $file in
            managed/*) files+=("$file") ;;
            *) files+=("$folder/$file") ;;
        esac
    done
    if [ $# -gt 0 ]; then
        if [ ! -e "$library" ] || [ -n "$(find "${files[@]}" -newer "$library")" ]; then
            mcs -nologo -target:library -langversion:latest "-out:$library" managed/Vervet.Grafts/GraftOntoAttribute.cs "${files[@]}" \
                > "$exe.log" 2>&1 || { echo "its grafts do not compile: $(grep -m1 error "$exe.log")"; return 1; }
        fi
        export VERVET_DEBUG_GRAFTS=$library
    fi
    if [ ! -e "$exe.ref/mscorlib.dll" ] || [ "${library}" -nt "$exe.ref/mscorlib.dll" ] || [ "$VERVET" -nt "$exe.ref/mscorlib.dll" ]; then
        XDG_CACHE_HOME=$CACHE/vervet "$VERVET" ref "$exe.ref" > "$exe.log" 2>&1 ||
            { echo "there is no reference assembly: $(grep -m1 . "$exe.log")"; return 1; }
    fi
    [ $# -eq 0 ] || echo "VERVET_DEBUG_GRAFTS=$VERVET_DEBUG_GRAFTS"
}
export -f managed_one graft unsafe_option

managed() { with_kept_code managed_with managed "$1"; }
# Runs a suite with compiled code that is kept from one program to the next, as a user's programs have it: most of what a short program
# costs is compilation. The suites that are about compiling (regression, managed-gc, managed-split, random) run without.
with_kept_code() {
    local -x VERVET_CACHE='' VERVET_CACHE_DIR=$CACHE/managed-kept
    "$@"
}
# The programs of a folder or, `sample`, this lane's share of all: a quarter or an eighth in each of the four lanes that collect all the time, and half of what is about memory and
# threads, except for Gc and Green, which take half of the time of a lane; half of what is about code with wrong guesses and with methods compiled twice; a quarter of what leaves its loops at once, and of
# what keeps code, which runs three times. The name of a program says where it is. With TEST_SHARE=all a sample is everything.
managed_programs() {
    local lane=$1 folder=$2 source
    [ "$folder" != sample ] || [ "${TEST_SHARE:-}" != all ] || folder=.
    { if [ "$folder" = sample ]; then
        managed_sources . | while IFS= read -r -d '' source; do
            case $lane:${source#tests/managed/}:$(($(cksum <<< "$source" | cut -d' ' -f1) % 8)) in
                managed-cache:@(Code|Smoke|Types|Reflection|Loading|Interop|Emit)/*:[04]) ;;
                managed-guards:@(Code|Everyday)/*:[0246]|managed-hot:@(Code|Everyday|Exceptions)/*:[1357]) ;;
                managed-loops:@(Code|Everyday|Exceptions|Gc|Heap)/*:[26]) ;;
                managed-cache:*|managed-guards:*|managed-hot:*|managed-loops:*) continue ;;
                managed-@(gc|marking):@(Handles|Heap|Locks|Threads)/*:[0246]|managed-@(split|green):@(Handles|Heap|Locks|Threads)/*:[1357]) ;;
                managed-*:@(Handles|Heap|Locks|Threads)/*) continue ;;
                managed-gc:*:0|managed-marking:*:[23]|managed-split:*:4|managed-green:*:[67]) ;;
                *) continue ;;
            esac
            printf '%s\0' "$source"
        done
    else managed_sources "$folder"; fi; } | sort -z
}
managed_sources() { find "tests/managed/$1" \( -name '*.cs' -o -name '*.il' \) -printf '%p\0' 2> /dev/null | sed -z 's,/\./,/,g'; }
managed_with() {
    local kind=$1 folder=$2 log=$results/$1.log list=$results/$1.list
    managed_programs "$kind" "$folder" > "$list"
    grep -z '\.cs$' "$list" | compile_managed
    xargs -0 -r -n 1 -P "$JOBS" bash -c 'managed_one "$0"' < "$list" > "$log"
    echo "$kind $folder: $(grep -cx ok "$log") of $(grep -vcx skip "$log") pass"
    while IFS= read -r line; do fail "$line"; done < <(grep -vxE 'ok|skip' "$log")
    [ -s "$log" ] || fail "$kind $folder: there is no such program"
}

# The same with a collection every so many allocations and the heap verified after each.
managed-gc() {
    local -x GC_DEBUG=${GC_DEBUG:-verify,poison,collect-every=5000,promote-in-place=3}
    managed_with managed-gc "$1"
}

# The same with every full collection marking beside the program, slowly. With `perturb` in GC_DEBUG (as `make soak` has it) a program's
# .stderr says the seed of the delays.
managed-marking() {
    local -x GC_DEBUG=${GC_DEBUG:-verify,poison,collect-every=20000,concurrent-marking,slow-marker=20}
    with_kept_code managed_with managed-marking "$1"
}
# The same under the options that change how the world is stopped: `managed-stops` stops it every so many microseconds whatever the
# program does, `managed-no-membarrier` does without the kernel's process fence.
managed-stops() {
    local -x VERVET_DEBUG_STOP_EVERY_US=${STOP_EVERY_US:-300}
    managed_with managed-stops "$1"
}
managed-no-membarrier() {
    local -x VERVET_DEBUG_NO_MEMBARRIER=1
    managed_with managed-no-membarrier "$1"
}
# The same with guesses of receivers that are all wrong, and with the class library's ciphers in place of the processor's.
managed-guards() {
    local -x VERVET_DEBUG_FAIL_GUARDS=1 VERVET_DEBUG_NO_AES=1
    managed_with managed-guards "$1"
}
# The same with every quickly compiled method compiled again at its first call, by the thread that calls it.
managed-hot() {
    local -x VERVET_HOT_CALLS=1 VERVET_BACKGROUND_COMPILER=0
    managed_with managed-hot "$1"
}
# The same with every method compiled again at its second call, and every loop of quick code left in its first iteration, for code that the thread makes.
managed-loops() {
    local -x VERVET_HOT_CALLS=2 VERVET_BACKGROUND_COMPILER=0
    managed_with managed-loops "$1"
}
# The same with managed frames on a stack of their own that grows from 4 KiB, as those of green threads are.
managed-split() {
    local -x VERVET_DEBUG_SPLIT_STACKS=4096 GC_DEBUG=${GC_DEBUG:-verify,poison,collect-every=5000,promote-in-place=3}
    managed_with managed-split "$1"
}
# The same with every thread that the program starts, and the pool's, as a green thread.
managed-green() {
    local -x VERVET_GREEN_THREADS=all GC_DEBUG=${GC_DEBUG:-verify,poison,collect-every=5000,promote-in-place=3}
    with_kept_code managed_with managed-green "$1"
}
# The same three times with compiled code that is kept: with an empty cache, with what that left there, and with each hit compared with what
# the compiler makes.
managed-cache() {
    # Nothing said is the usual: to read and to write.
    local -x VERVET_CACHE='' VERVET_CACHE_DIR=$CACHE/managed-code
    rm -rf "$VERVET_CACHE_DIR"
    managed_with managed-cache "$1"
    managed_with managed-cache "$1"
    VERVET_CACHE=verify managed_with managed-cache "$1"
}
# The same with the class library compiled ahead, and compared with what the compiler makes.
managed-aot() {
    local -x VERVET_CACHE='' VERVET_CACHE_DIR=$CACHE/managed-aot
    if [ ! -f "$VERVET_CACHE_DIR/built" ] || [ "$VERVET" -nt "$VERVET_CACHE_DIR/built" ]; then
        rm -rf "$VERVET_CACHE_DIR"; mkdir -p "$VERVET_CACHE_DIR"; chmod 700 "$VERVET_CACHE_DIR"
        VERVET_CACHE_DIR=$VERVET_CACHE_DIR/code "$VERVET" aot /usr/lib/mono/4.5/{mscorlib,System,System.Core}.dll ||
            { fail "managed-aot: the class library is not compiled"; return; }
        touch "$VERVET_CACHE_DIR/built"
    fi
    VERVET_CACHE_DIR=$VERVET_CACHE_DIR/code
    managed_with managed-aot "$1"
    VERVET_CACHE=verify managed_with managed-aot "$1"
}
# The same with every blob turned into bytes and back before it is linked.
managed-convert() {
    local -x VERVET_CACHE=convert
    managed_with managed-convert "$1"
}
# The same with the program as it is shipped.
managed-release() {
    cargo build --release -p vervet || { fail "managed-release: no release build"; return; }
    local -x VERVET=${CARGO_TARGET_DIR:-$root/target}/release/vervet
    managed_with managed-release "$1"
}

# ---- cache: attacks on the directory of compiled code -----------------------------------------------------------

#
# `cache .` is tests/cache.sh, `cache aot` tests/aot.sh.
cache() {
    local log=$results/cache-$1.log script=tests/cache.sh
    [ "$1" = aot ] && script=tests/aot.sh
    "$script" > "$log" 2>&1
    echo "cache $1: $(grep -c '^ok' "$log") cases as expected"
    grep -q '^ok' "$log" || fail "cache: no case ran"
    # The shell says of some that they were killed, which is what a case does.
    while IFS= read -r line; do fail "cache: $line"; done < <(grep -v -e '^ok' -e ' Killed  ' "$log")
}

# ---- stress: stopping the world under foreign signals, as many seconds as asked ----------------------------------

stress() {
    local log=$results/stress.log
    tests/stress/run.sh "$1" > "$log" 2>&1 || fail "stress: see below"
    cat "$log"
}

# ---- conformance: Mono's own runtime programs; exit code 0 is a pass --------------------------------------------

conformance_one() {
    local program=$1 expectation=$2 code work
    [ "$expectation" = skip ] && { echo "skip"; return; }
    [ -e "$CACHE/mono-tests/$program.exe" ] || { echo "$program: was not built"; return; }
    timeout -k 5 "$PROGRAM_LIMIT" bash -c 'cd "$1" && exec "$2" "$3.exe"' - "$CACHE/mono-tests" "$VERVET" "$program" \
        > "$CACHE/mono-tests/$program.log" 2>&1 < /dev/null
    code=$?
    case $program:$code in tailcall/coreclr/*:100) code=0 ;; esac
    if [ -n "$(disorder $code)" ]; then
        echo "$program: ended by $(disorder $code), expected to $expectation; $(grep -m1 . "$CACHE/mono-tests/$program.log" | cut -c1-160)"
    elif [ "$code" = 0 ] && [ "$expectation" = fail ]; then echo "$program: passes, but is expected to fail"
    elif [ "$code" != 0 ] && [ "$expectation" = pass ]; then
        echo "$program: exit code $code; $(grep -m1 . "$CACHE/mono-tests/$program.log" | cut -c1-160)"
    else echo "$expectation"; fi
}
export -f conformance_one

conformance() {
    local list=tests/conformance/$1 log=$results/conformance.log
    awk '!/^[ \t]*(#|$)/ { print $1, $2 }' "$list" |
        with_kept_code xargs -r -n 2 -P "$JOBS" bash -c 'conformance_one "$0" "$1"' > "$log"
    echo "conformance $1: $(grep -cx pass "$log") pass, $(grep -cx fail "$log") fail as known, $(grep -cx skip "$log") skipped"
    while IFS= read -r line; do fail "$line"; done < <(grep -vxE 'pass|fail|skip' "$log")
}

# ---- conformance-mcs: the programs of mcs/tests, compiled by mcs.exe under the runtime; exit code 0 is a pass ------
#
# `all` or `sample`. tests/conformance/mcs-tests.txt has the few that do not pass, with reasons.

conformance_mcs_one() {
    local source=$1 folder=$CACHE/mcs-tests program expectation code
    program=${source%.cs}
    expectation=$(awk -v p="$program" '$1 == p { print $2; exit }' tests/conformance/mcs-tests.txt)
    expectation=${expectation:-pass}
    [ "$expectation" = skip ] && { echo skip; return; }
    [ ! -e "$folder/$program.failed" ] || { echo "$program: does not compile: $(grep -m1 -E 'error|Exception' "$folder/$program.failed" | cut -c1-160)"; return; }
    if [ ! -e "$folder/$program.exe" ]; then
        [ -e "$folder/$program.dll" ] || [ -e "$folder/$program.netmodule" ] || { echo "$program: was not built"; return; }
        echo pass
        return
    fi
    timeout -k 5 "$PROGRAM_LIMIT" bash -c 'cd "$1" && exec "$2" "$3.exe"' - "$folder" "$VERVET" "$program" \
        > "$folder/$program.log" 2>&1 < /dev/null
    code=$?
    if [ -n "$(disorder $code)" ]; then
        echo "$program: ended by $(disorder $code), expected to $expectation; $(grep -m1 . "$folder/$program.log" | cut -c1-160)"
    elif [ "$code" = 0 ] && [ "$expectation" = fail ]; then echo "$program: passes, but is expected to fail"
    elif [ "$code" != 0 ] && [ "$expectation" = pass ]; then
        echo "$program: exit code $code; $(grep -m1 . "$folder/$program.log" | cut -c1-160)"
    else echo "$expectation"; fi
}
export -f conformance_mcs_one

conformance-mcs() {
    [ "${TEST_SHARE:-}" != all ] || set -- all
    local log=$results/conformance-mcs-$1.log
    VERVET_CACHE='' VERVET_CACHE_DIR=$CACHE/managed-kept tests/conformance/build-mcs-tests.sh "$1" ||
        { fail "conformance-mcs $1: its programs are not built"; return; }
    with_kept_code xargs -r -n 1 -P "$JOBS" bash -c 'conformance_mcs_one "$0"' < "$CACHE/mcs-tests/PROGRAMS.$1" > "$log"
    echo "conformance-mcs $1: $(grep -cx pass "$log") pass, $(grep -cx fail "$log") fail as known, $(grep -cx skip "$log") skipped"
    while IFS= read -r line; do fail "$line"; done < <(grep -vxE 'pass|fail|skip' "$log")
}

# ---- random: programs in IL that nobody wrote ---------------------------------------------------------------------
#
# `random N` makes N programs from a fresh seed (RANDOM_SEED: that one) and compares them with the peers that are installed;
# `random cases` runs what such programs once found, each against the output beside it.

random() {
    local log=$results/random-$1.log ilgen=${CARGO_TARGET_DIR:-$root/target}/ci/vervet-ilgen
    [ "$1" = cases ] && { random_cases; return; }
    tests/build.sh -q || { fail "random: vervet-ilgen does not build"; return; }
    # shellcheck disable=SC2086
    "$ilgen" run --programs "$1" --vervet "$VERVET" ${RANDOM_SEED:+--seed $RANDOM_SEED} --out "$results/random" > "$log" 2>&1 ||
        fail "random $1: see $log and $results/random"
    sed 's/^/  /' "$log"
}

random_cases() {
    local case exe mode ran=0 ok=0
    mkdir -p "$CACHE/random"
    for case in tests/random/cases/*.il; do
        [ -e "$case" ] || { fail "random cases: there is none"; return; }
        exe=$CACHE/random/$(basename "$case" .il).exe
        ilasm -quiet "-output:$exe" "$case" > "$exe.log" 2>&1 || { fail "$case does not assemble: $exe.log"; continue; }
        for mode in '' -O=all "--gc-debug=verify,poison,collect-every=11,promote-in-place=3"; do
            ran=$((ran + 1))
            # shellcheck disable=SC2086
            if timeout -k 5 "$PROGRAM_LIMIT" "$VERVET" $mode "$exe" > "$exe.stdout" 2> "$exe.stderr" < /dev/null &&
                cmp -s "${case%.il}.expected" "$exe.stdout"; then ok=$((ok + 1))
            else fail "$case${mode:+ $mode}: diff ${case%.il}.expected $exe.stdout"; fi
        done
    done
    echo "random cases: $ok of $ran runs as expected"
}

# ---- behaviour: what users see of the command, against transcripts that Mono wrote ---------------------------------

behaviour() {
    local log=$results/behaviour.log
    # shellcheck disable=SC2046
    tests/behaviour/run.sh $([ "$1" = . ] || echo "$1") > "$log"
    echo "behaviour $1: $(grep -c '^ok' "$log") of $(grep -cE '^(ok|differs)' "$log") cases as expected"
    grep -q '^ok' "$log" || fail "behaviour $1: no case ran"
    while IFS= read -r line; do fail "behaviour: $line"; done < <(grep '^differs' "$log")
    grep -v '^ok\|^differs' "$log" || true
}

# ---- script: tests/NAME.sh with the command as its argument; it prints `FAILED: ...` for each error, and at last a line that counts ------

script() {
    local log=$results/$1.log code
    "tests/$1.sh" "$VERVET" > "$log" 2>&1
    code=$?
    tail -n 1 "$log"
    grep 'skipped:' "$log"
    while IFS= read -r line; do fail "${line#*FAILED: }"; done < <(grep 'FAILED: ' "$log")
    [ "$code" = 0 ] || fail "$1 ended with code $code: see $log"
}

# ---- the table ---------------------------------------------------------------------------------------------------

if [ $# -gt 0 ]; then
    [ $(($# % 2)) = 0 ] || { echo "tests/run.sh: suites are named by pairs: kind and name" >&2; exit 2; }
    suites=$(printf '%s %s\n' "$@")
else suites=$(awk '!/^[ \t]*(#|$)/ { print $1, $2 }' tests/suites.txt); fi
if [ -z "$suites" ]; then
    echo "tests/run.sh: no managed suite is switched on in tests/suites.txt"
    exit 0
fi

if [ -z "${VERVET:-}" ]; then
    tests/build.sh || exit 1
    VERVET=${CARGO_TARGET_DIR:-$root/target}/ci/vervet
fi
export VERVET
case $suites in *regression*)  tests/build-mini.sh || exit 1 ;; esac
case $suites in *"conformance "*) tests/build-mono-tests.sh || exit 1 ;; esac

ran=0
while read -r kind name; do
    began=$SECONDS
    case $kind in
        regression|managed|managed-gc|managed-marking|managed-stops|managed-no-membarrier|managed-guards|managed-hot|managed-loops|managed-split|managed-green|managed-cache|managed-aot|managed-convert|managed-release|cache|conformance|conformance-mcs|behaviour|stress|random|script) "$kind" "$name" < /dev/null ;;
        *) fail "unknown kind of suite: $kind" ;;
    esac
    echo "  $kind $name took $((SECONDS - began)) s"
    ran=$((ran + 1))
done <<< "$suites"

if [ "$errors" -gt 0 ]; then
    echo "tests/run.sh: $errors differences from what is expected"
    exit 1
fi
echo "tests/run.sh: $ran suites in $SECONDS s, everything as expected"
