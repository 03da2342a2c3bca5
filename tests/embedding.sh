#!/bin/bash
# The embedding library: C hosts (tests/embedding) on it, each compared with what mono prints.
#
#   tests/embedding.sh [BINARY]     the library is taken from beside BINARY (target/ci/vervet), and built if cargo is there
#
# HOST_FLAGS are options for the compiler of the hosts, a sanitizer for instance.
#
# Hosts are compiled with the headers of the library, and linked with the name that hosts of mono are linked with. Python parts are skipped, with a message,
# where pythonnet is not installed.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
directory=$(dirname "$(realpath "${1:-target/ci/vervet}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
errors=0 passed=0
pass() { passed=$((passed + 1)); }
fail() { errors=$((errors + 1)); echo "  FAILED: embedding: $*"; }
if command -v cargo > /dev/null && [ "$directory" = "$PWD/target/ci" ]; then
    tests/build.sh --quiet || { fail "the library does not build"; exit 1; }
fi
packaging/library.sh "$directory/libvervet_embedding.so" "$work/lib" || { fail "packaging/library.sh"; exit 1; }
export LD_LIBRARY_PATH=$work/lib VERVET_CACHE=off
include=${MONO_INCLUDE:-$PWD/include}

host() { cc -O1 -w ${HOST_FLAGS:-} -rdynamic -D_GNU_SOURCE -I"$include" "tests/embedding/$1.c" -o "$work/$1" -L"$work/lib" -lmonosgen-2.0 -lpthread 2> "$work/log" || { fail "$1.c does not compile: $(head -n 3 "$work/log")"; return 1; }; }
compare() { # name, expected, command...
    local name=$1 expected=$2; shift 2
    (cd "$work" && timeout -k 5 60 "$@") > "$work/out" 2> "$work/err" < /dev/null
    local code=$?
    if [ $code != 0 ]; then fail "$name ended with code $code: $(tail -n 2 "$work/err")"
    elif ! diff "$expected" "$work/out" > "$work/diff"; then fail "$name: $(head -n 6 "$work/diff")"
    else pass; fi
}

mcs -nologo -warn:0 "-out:$work/Lib.exe" tests/embedding/Lib.cs || { fail "Lib.cs does not compile"; exit 1; }

# What differs from mono by design (docs/embedding.md#differences), each line with its counterpart.
differences() {
    sed -e 's/offset 32, instance_size 48, object size 48/offset 24, instance_size 40, object size 40/' -e 's/unbox offset 16/unbox offset 8/' \
        -e 's/data offset 32/data offset 16/' -e 's/^gchandles .*; target/gchandles; target/' -e 's/^freed slot reused.*/freed slot reused/' \
        -e 's/thread: id [0-9]*/thread: id/' -e 's/generation of o [01]/generation of o/' -e 's/threads [0-9]*$/threads/' \
        -e 's/child assembly differs 0 image same 1/child assembly differs 1 image same 0/' "$@"
}
if host host; then
    differences tests/embedding/host.expected > "$work/host.want"
    (cd "$work" && timeout 60 ./host) 2> "$work/err" | differences > "$work/host.out"
    if diff "$work/host.want" "$work/host.out" > "$work/diff"; then pass; else fail "host: $(head -n 6 "$work/diff")"; fi
    # An exception that nobody catches ends the process as in mono.
    (cd "$work" && timeout 60 ./host unhandled) > "$work/out" 2> "$work/err"
    code=$?
    if [ $code = 1 ] && grep -q '^\[ERROR\] FATAL UNHANDLED EXCEPTION: System.InvalidOperationException: boom 1' "$work/err" && ! grep -q 'not reached' "$work/out"; then pass
    else fail "host unhandled ended with code $code: $(head -n 2 "$work/err")"; fi
fi
mcs -nologo -warn:0 -t:library "-out:$work/Stores.exe" tests/embedding/Stores.cs || fail "Stores.cs does not compile"
if host stores; then compare stores "$PWD/tests/embedding/stores.expected" ./stores; fi
mcs -nologo -warn:0 -t:library "-out:$work/Ends.exe" tests/embedding/Ends.cs || fail "Ends.cs does not compile"
if host ends; then
    (cd "$work" && timeout 60 ./ends with-hook) > "$work/out" 2> "$work/err"
    code=$?
    if [ $code = 7 ] && diff tests/embedding/ends.expected "$work/out" > "$work/diff"; then pass
    else fail "ends ended with code $code: $(cat "$work/diff" "$work/err" | head -n 6)"; fi
fi
mcs -nologo -warn:0 -t:library "-out:$work/Script.dll" tests/embedding/Script.cs || fail "Script.cs does not compile"
if host domains; then compare domains "$PWD/tests/embedding/domains.expected" ./domains; fi
# An assembly that the host carries: its file is not found.
if (cd "$work" && mcs -nologo -t:library -out:Carried.dll "$OLDPWD/tests/embedding/Carried.cs" &&
    mcs -nologo -t:library -optimize+ -r:Carried.dll -out:Rest.exe "$OLDPWD/tests/embedding/Rest.cs" && mv Carried.dll Carried.bin); then
    # The sum over Rest's own identity differs with each compile.
    if host rest; then compare rest "$PWD/tests/embedding/rest.expected" sh -c "./rest | sed '/^Rest: semantics/s/, guid.*//'"; fi
else fail "Rest.cs does not compile"; fi
if host stacks; then compare stacks "$PWD/tests/embedding/stacks.expected" ./stacks; fi
# Hooks: One needs Two, and Three lies where nobody looks for it.
mkdir -p "$work/other"
for name in Two One Hooks other/Three Four Five Six Supplied; do
    case $name in One) refers=-r:Two.dll ;; Hooks) refers=-r:One.dll ;; Supplied) refers=-r:Two.dll,Four.dll,Five.dll,Six.dll,other/Three.dll ;; *) refers=-r:System.dll ;; esac
    (cd "$work" && mcs -nologo -warn:0 -t:library $refers "-out:$name.dll" "$OLDPWD/tests/embedding/hooks/$(basename $name).cs") || fail "hooks/$name.cs does not compile"
done
if host hooks; then compare hooks "$PWD/tests/embedding/hooks.expected" ./hooks; fi
if host supplied; then compare supplied "$PWD/tests/embedding/supplied.expected" ./supplied; fi
# Metadata as bytes, IL as text; lines of source, libraries of the host's, reference queues, remote fields, counters.
mcs -nologo -warn:0 -debug -unsafe -t:library "-out:$work/More.dll" tests/embedding/More.cs || fail "More.cs does not compile"
# The rows that the compiler gives references differ with its version.
if host raw; then compare raw "$PWD/tests/embedding/raw.expected" sh -c "./raw | sed 's/\\(0x\\|<\\)\\([0-9a-f][0-9a-f]\\)[0-9a-f]\\{6\\}/\\1\\2/'"; fi
if host sources; then compare sources "$PWD/tests/embedding/sources.expected" ./sources; fi
if host wide; then compare wide "$PWD/tests/embedding/wide.expected" ./wide; fi
if host wider; then compare wider "$PWD/tests/embedding/wider.expected" ./wider; fi
if host api; then compare api "$PWD/tests/embedding/api.expected" ./api; fi
mcs -nologo -warn:0 -t:library "-out:$work/Green.dll" tests/embedding/Green.cs || fail "Green.cs does not compile"
if host green; then
    for carriers in 1 2; do compare "green threads on $carriers" "$PWD/tests/embedding/green.expected" env VERVET_GREEN_THREADS=all VERVET_CARRIERS=$carriers ./green; done
fi
mcs -nologo -warn:0 -t:library "-out:$work/Thunks.dll" tests/embedding/Thunks.cs || fail "Thunks.cs does not compile"
if host thunks; then
    compare thunks "$PWD/tests/embedding/thunks.expected" ./thunks
    compare "thunks with a checked heap" "$PWD/tests/embedding/thunks.expected" env EMBED_GC_DEBUG=--gc-debug=verify,poison,collect-every=500 ./thunks
    compare "thunks on growing stacks" "$PWD/tests/embedding/thunks.expected" env VERVET_DEBUG_SPLIT_STACKS=4096 ./thunks
fi
if host late; then compare "a thunk into a domain that is unloaded" "$PWD/tests/embedding/late.expected" ./late; fi
mcs -nologo -warn:0 "-out:$work/Starts.exe" tests/embedding/Starts.cs || fail "Starts.cs does not compile"
if host starts; then compare starts "$PWD/tests/embedding/starts.expected" ./starts; fi
# One arena, so that all of the host's threads and the runtime's want the same lock.
if host held; then compare held "$PWD/tests/embedding/held.expected" env MALLOC_ARENA_MAX=1 ./held; fi
if host jumps; then compare jumps "$PWD/tests/embedding/jumps.expected" ./jumps; fi
if host forks; then compare forks "$PWD/tests/embedding/forks.expected" ./forks; fi
# Samples by real time: system calls of a host with a time limit come to an end.
if host nap; then compare nap "$PWD/tests/embedding/nap.expected" env VERVET_DEBUG_SAMPLE=real,100 ./nap; fi
if host threads; then
    compare threads "$PWD/tests/embedding/threads.expected" ./threads
    sed -n '1,2p;$p' tests/embedding/threads.expected > "$work/small.want"
    compare "threads on a stack of 64 KiB" "$work/small.want" ./threads 64
    # Objects move at every opportunity, and their old places are overwritten.
    compare "threads with a checked heap" "$work/small.want" env EMBED_GC_DEBUG=--gc-debug=verify,poison,collect-every=500 ./threads 8192
fi

# A library that is opened at run time gets 512 bytes of each thread's static block for all of its thread-local variables (`runtime/arch/x86_64/current.rs`).
variables=$(readelf -lW "$work/lib/libvervet.so.1" | awk '$1 == "TLS" { print $6 }')
if [ $((variables)) -le 512 ]; then pass; else fail "thread-local variables take $((variables)) bytes, and there is room for 512"; fi

# A JVM in the same process, started before this runtime and after it. JAVA_HOME says which; else any that is installed, with its compiler.
java=${JAVA_HOME:-}
[ -n "$java" ] || java=$(for d in /usr/lib/jvm/*; do [ ! -x "$d/bin/javac" ] || [ ! -e "$d/include/jni.h" ] || echo "$d"; done | tail -n 1)
if [ -e "$java/lib/server/libjvm.so" ] && [ -e "$java/include/jni.h" ]; then
    if "$java/bin/javac" -d "$work" tests/embedding/Jvm.java 2> "$work/log" && mcs -nologo -warn:0 -t:library "-out:$work/Jvm.dll" tests/embedding/Jvm.cs &&
        cc -O1 -w -D_GNU_SOURCE -I"$include" -I"$java/include" -I"$java/include/linux" tests/embedding/jvm.c -o "$work/jvm" -L"$work/lib" -lmonosgen-2.0 -lpthread 2>> "$work/log"; then
        for first in java cli; do compare "a JVM in the process, $first first" "$PWD/tests/embedding/jvm.expected" ./jvm "$java/lib/server/libjvm.so" $first; done
    else fail "the host of a JVM does not compile: $(head -n 3 "$work/log")"; fi
else echo "  embedding: no JVM with its headers is installed; its checks are skipped"; fi

# Every function that the headers of mono 6.8 declare is exported: one that is not implemented says so.
nm -D --defined-only "$work/lib/libvervet.so.1" | awk '$2 == "T" { print $3 }' | sort > "$work/exports"
missing=$(sed 's/\t.*//' tests/embedding/functions.txt | sort | comm -23 - "$work/exports")
if [ -z "$missing" ]; then pass; else fail "not exported: $(echo $missing | cut -c1-300)"; fi
if host missing; then
    { (cd "$work" && exec ./missing) > "$work/out" 2>&1; } 2> /dev/null
    if grep -q 'mono_gc_walk_heap is not implemented: ' "$work/out"; then pass; else fail "a missing function does not say its name: $(head -n 2 "$work/out")"; fi
fi

# The sample, compiled as its readers would.
flags=$(PKG_CONFIG_PATH=$work/lib/pkgconfig pkg-config --cflags --libs vervet 2> /dev/null || echo "-I$include -L$work/lib -lvervet -lpthread")
# shellcheck disable=SC2086
if mcs -nologo -t:library "-out:$work/Rules.dll" samples/embedding/Rules.cs && cc -Wall -Werror samples/embedding/game.c -o "$work/game" $flags 2> "$work/log"; then
    compare "samples/embedding/game.c" tests/embedding/game.expected ./game
else fail "samples/embedding does not compile: $(head -n 3 "$work/log")"; fi

# The same with the Rust crate, whose example is built with the library.
if [ -x "$directory/examples/game" ] && mcs -nologo -t:library "-out:$work/Ball.dll" samples/embedding/Ball.cs; then
    compare "samples/embedding/game.rs" "$PWD/tests/embedding/rust.expected" "$directory/examples/game" "$work/lib/libvervet.so.1" Ball.dll
else echo "  embedding: no example of vervet-embed beside $directory; its check is skipped"; fi

python=${EMBED_PYTHON:-python3}
if "$python" -c 'import clr_loader, pythonnet' 2> /dev/null; then
    compare pythonnet tests/embedding/pythonnet.expected "$python" "$PWD/tests/embedding/pythonnet_smoke.py" "$work/lib/libvervet.so.1"
else
    echo "  embedding: pythonnet is not installed for $python; its checks are skipped"
fi

echo "embedding: $passed checks passed, $errors failed"
[ $errors = 0 ]
