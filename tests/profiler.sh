#!/bin/bash
# The log profiler: recordings of a program of known shape, and what becomes of a recording when the process ends otherwise than in order.
#
#   tests/profiler.sh VERVET
#
# `vervet report` reads the recordings. mprof-report and a program on Mono.Profiler.Log.dll read them too, where they are installed.
set -uo pipefail

[ $# -eq 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
vervet=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export VERVET_CACHE=off
errors=0 passed=0
check() { # what, command...
    local what=$1; shift
    if "$@" > log 2>&1; then passed=$((passed + 1))
    else errors=$((errors + 1)); echo "  FAILED: profiler: $what"; sed 's/^/    /' log | tail -n 15; fi
}
has() { grep -qE -- "$1" "$2" || { echo "no '$1' in $2:"; cat "$2"; return 1; }; }
ends() { # code, command...
    local want=$1; shift
    timeout 60 "$@" > out 2> err
    local code=$?
    [ $code = "$want" ] || { echo "code $code, not $want"; cat out err; return 1; }
}

mcs -out:Shapes.exe "$here/profiler/Shapes.cs" || { echo "  FAILED: profiler: mcs"; exit 1; }

# ---- exact counts ---------------------------------------------------------------------------------------------------------------
all=log:nodefaults,exception,counter,monitor,gc,gchandle,finalization,gcalloc
check "a run that is recorded" ends 0 "$vervet" --profile=$all,output=all.mlpd Shapes.exe
check "the report" ends 0 "$vervet" report --verbose all.mlpd
cp out all.txt
check "objects with a finalizer" has '^ .* 1,001 .* Widget$' all.txt
check "objects of a generic nested class" has '^ .* 1,000 .* Widget.Part<System.String>$' all.txt
check "throws" has 'System.InvalidOperationException' all.txt
if command -v mprof-report > /dev/null; then
    mprof-report all.mlpd > mprof.txt 2>&1
    check "mprof-report: class of 1,001 objects" has ' 1001 +[0-9]+ Widget$' mprof.txt
    check "mprof-report: throws" has 'Throws: 1[01]$' mprof.txt
    check "mprof-report: filters" has 'Executed filter clauses: 10$' mprof.txt
    check "mprof-report: finally" has 'Executed finally clauses: [1-9][0-9]+$' mprof.txt
    check "mprof-report: weak handles" has 'GC handles weak: created: 7, destroyed: 7' mprof.txt
    check "mprof-report: contention" has 'Lock contentions: 1$' mprof.txt
    check "mprof-report: acquired" has 'Lock acquired: 1$' mprof.txt
    check "mprof-report: no class is unknown" bash -c '! grep -q unresolved mprof.txt'
    check "mprof-report: the domain's name" has 'friendly name: "Shapes.exe"' mprof.txt
    check "mprof-report: names" has 'name: "Main"' mprof.txt
else echo "  skipped: mprof-report is not installed"; fi
reader=/usr/lib/mono/4.5/Mono.Profiler.Log.dll
if [ -e $reader ]; then
    cp $reader .
    check "a program that reads recordings" mcs -r:Mono.Profiler.Log.dll -out:Reader.exe "$here/profiler/Reader.cs"
    check "Mono.Profiler.Log.dll on Vervet" ends 0 "$vervet" Reader.exe all.mlpd
    cp out read.txt
    check "its count of throws" has '^ThrowEvent 1[01]$' read.txt
    check "its count of contentions" has '^MonitorEvent 2$' read.txt
    check "a program that forks" mcs -r:Mono.Profiler.Log.dll -out:Forks.exe "$here/profiler/Forks.cs"
    check "it ends" ends 0 "$vervet" --profile=log:nodefaults,output=forks.mlpd Forks.exe
    check "its children find no lock held" [ "$(cat out)" = 300 ]
    # The clauses that run, with an exception and without. mono has as many of each.
    check "a program with clauses" mcs -out:Clauses.exe "$here/profiler/Clauses.cs"
    for tier in "" --optimize; do
        check "its run $tier" ends 0 "$vervet" $tier --profile=log:nodefaults,exception,output=clauses.mlpd Clauses.exe
        check "its clauses $tier" ends 0 "$vervet" Reader.exe clauses.mlpd Clauses
        check "are those that ran $tier" diff "$here/profiler/Clauses.expected" <(grep : out)
    done
    # What a program switches on and off: 100 of each within, none before or after. (Another thread was in the middle of one when it was switched on.)
    check "a program that records parts of itself" mcs -r:Mono.Profiler.Log.dll -out:Live.exe "$here/profiler/Live.cs"
    check "it runs without a profiler" ends 0 "$vervet" Live.exe
    check "and is told so" [ "$(tr '\n' ' ' < out)" = "attached: False missing " ]
    check "it runs with one" ends 0 "$vervet" --profile=log:nodefaults,output=live.mlpd Live.exe
    cp out live.txt
    printf '%s\n' "attached: True" "frames 32 of 32, depth 100" "heapshot None 0 0" "sample None 100" \
        "events False False False False False False False False False False" True "frames 3 of 32, depth 4" "heapshot OnDemand 60000 0" "sample Process 500" \
        "events False False False False False False False False False False" True > want.txt
    check "what it reads back" diff want.txt live.txt
    check "the report of it" ends 0 "$vervet" report --verbose live.mlpd
    check "objects made within" has '^ .* 100 +[0-9.]+.* +Within$|^ +[0-9,]+ +[0-9.]+ % +100 +Within$' out
    check "none made after" bash -c '! sed "/^Heapshot/,\$d" out | grep -q "  After$"'
    check "throws within" has '^ +10[0-9] .*Live:Work' out
    check "a heapshot" has '^Heapshot 1' out
    check "samples" has 'Live:Spin' out
    if command -v mprof-report > /dev/null; then
        mprof-report live.mlpd > mprof.txt 2>&1
        check "mprof-report: handles within" has 'GC handles weak: created: 10[0-9], destroyed: 10[0-9]' mprof.txt
        check "mprof-report: objects within" has ' 100 +[0-9]+ Within$' mprof.txt
    fi
else echo "  skipped: Mono.Profiler.Log.dll is not installed"; fi

# ---- calls and samples ----------------------------------------------------------------------------------------------------------
check "calls" ends 0 "$vervet" --profile=log:nodefaults,calls,callspec=program,output=calls.mlpd Shapes.exe
check "their report" ends 0 "$vervet" report --verbose calls.mlpd
check "40 calls of Fail" has '\b40 .*Shapes:Fail' out
check "1,001 calls of the constructor" has '\b1,001 .*Widget:.ctor' out
if command -v mprof-report > /dev/null; then
    mprof-report --verbose --reports=call calls.mlpd > mprof.txt 2>&1
    check "mprof-report: calls match returns" bash -c '! grep -q unmatched mprof.txt'
    check "mprof-report: calls" has ' 40 Shapes:Fail' mprof.txt
fi
for mode in sample sample-real; do
    check "$mode" ends 0 "$vervet" --profile=log:nodefaults,$mode=500,output=$mode.mlpd Shapes.exe spin
    check "the report of $mode" ends 0 "$vervet" report $mode.mlpd
    check "shows the loop that ran" has 'Shapes:Spin' out
done

check "short waits" mcs -out:ShortWaits.exe "$here/profiler/ShortWaits.cs"
check "threads that wait for next to nothing, seen from outside" ends 0 "$vervet" --profile=log:sample-real=10000,output=short.mlpd ShortWaits.exe
check "their report" ends 0 "$vervet" report short.mlpd

check "waits" ends 0 "$vervet" --profile=log:nodefaults,waits=1000,output=waits.mlpd Shapes.exe wait
check "the report of waits" ends 0 "$vervet" report --collapsed waits.txt waits.mlpd
sum() { awk -v what="$1" 'index($0, what) { n += $NF } END { print n + 0 }' waits.txt; }
between() { [ "$(sum "$1")" -ge "$2" ] && [ "$(sum "$1")" -le "$3" ] || { sum "$1"; cat waits.txt; return 1; }; }
check "a sleep of 400 ms" between 'Shapes:Doze' 395 600
check "which is one" has 'Shapes:Doze.*\[sleeps\]' waits.txt
check "a wait of 300 ms" between '[waits for a monitor]' 250 600
check "its place" has 'Shapes:Queue.*\[waits for a monitor\]' waits.txt
check "at most three samples wait" ends 0 "$vervet" --profile=log:nodefaults,sample-real=5000,maxsamples=3,output=few.mlpd Shapes.exe spin
check "others are lost" has 'the recording lacks [0-9]{2,} samples' err

check "one allocation a megabyte" ends 0 "$vervet" --profile=log:nodefaults,allocsample=1048576,output=alloc.mlpd Shapes.exe fill
check "its report" ends 0 "$vervet" report alloc.mlpd
# 256 are expected, with a standard deviation of 16.
check "has so many events" has '^Estimated from (1[6-9]|2[0-9]|3[0-5])[0-9] of them: one about every 1.0 MiB' out
check "which stand for all" has '^Allocations: (1[6-9][0-9]|2[0-9]{2}|3[0-5][0-9]),[0-9]{3} objects, (1[6-9][0-9]|2[0-9]{2}|3[0-5][0-9])\.[0-9] MiB' out
check "says where" has 'Shapes:Fill' out
# A period of two TLABs: 4,066 are expected, with a standard deviation of 64. They stand for 254 MiB; 4 MiB are a standard deviation, and
# 19 are accepted, either way.
for more in "" --green-threads=all; do
    check "one allocation in 64 KiB $more" ends 0 "$vervet" $more --profile=log:nodefaults,allocsample=65536,output=alloc.mlpd Shapes.exe fill
    check "its report" ends 0 "$vervet" report alloc.mlpd
    check "stands for all" has '^Allocations: .* objects, 2(3[5-9]|[456][0-9]|7[0-2])\.[0-9] MiB' out
done
# Threads that take less than a TLAB: 14.8 MiB, of which 950 samples are expected, with a standard deviation of 31, or 0.5 MiB.
check "a program with many threads" mcs -out:Short.exe "$here/profiler/Short.cs"
for more in "" --green-threads=all; do
    check "allocations of short threads $more" ends 0 "$vervet" $more --profile=log:nodefaults,allocsample=16384,output=alloc.mlpd Short.exe
    check "its report" ends 0 "$vervet" report alloc.mlpd
    check "stands for all" has '^Allocations: .* objects, 1[2-7]\.[0-9] MiB' out
done

# ---- heapshots and roots ----------------------------------------------------------------------------------------------------------
mcs -out:Shot.exe "$here/profiler/Shot.cs" || { echo "  FAILED: profiler: mcs"; exit 1; }
check "heapshots" ends 0 "$vervet" --profile=log:nodefaults,heapshot,heapshot-on-shutdown,output=shot.mlpd Shot.exe
check "their report" ends 0 "$vervet" report --verbose shot.mlpd
check "three of them" [ "$(grep -c '^Heapshot' out)" = 3 ]
check "objects of a class" has ' 1,000 +Node$' out
check "objects that wait for their finalizers" has '^Heapshot 2 .* [5-9],[0-9]{3} roots$' out
if command -v mprof-report > /dev/null; then
    # With --traces it fails if a reference leads to what is no object of the heapshot.
    check "mprof-report: heapshots" ends 0 mprof-report --traces --verbose --reports=heapshot shot.mlpd
    # The first, up to the second.
    sed '/Heap shot 1 /,$d' out > first.txt
    kept() { grep -A1 -E " $1\$" first.txt | grep -qE "$2" || { echo "no $2 behind $1 in:"; cat first.txt; return 1; }; }
    # (Stacks are scanned conservatively: a word of a frame may be a second root.)
    check "mprof-report: a list" kept '1000 +[0-9]+ Node' '[12] root references'
    check "mprof-report: an array's elements" kept '5000 +[0-9]+ Finalized' '5000 references from: System.Object\[\]'
    for class in OfStack OfThread Handled Value; do check "mprof-report: what keeps $class" kept "1 +[0-9]+ $class" '[12] root references'; done
fi
check "every third collection" ends 0 "$vervet" --gc=nursery-size=256k --profile=log:nodefaults,gc,heapshot=3gc,output=shots.mlpd Shapes.exe fill
check "their report" ends 0 "$vervet" report shots.mlpd
check "several of them" has '^Heapshot 4' out
check "one in three collections, and one to end each cycle" awk '/^Collections: / { gsub(/[,;]/, "", $2); all = $2 + 0 } /^Heapshot / { shots++ } END { exit !(6 * shots >= all && 3 * shots <= all) }' out
for more in "" --gc-debug=concurrent-marking,slow-marker=10; do
    check "roots at each collection $more" ends 0 "$vervet" $more --profile=log:gcroot,heapshot=20ms,output=roots.mlpd Shapes.exe fill
    check "their report" ends 0 "$vervet" report roots.mlpd
    ! command -v mprof-report > /dev/null || check "mprof-report of them" ends 0 mprof-report --traces roots.mlpd
done

# ---- commands ---------------------------------------------------------------------------------------------------------------------
mkfifo input
"$vervet" --profile=log:nodefaults,heapshot=ondemand,port=0,output=port.mlpd Shot.exe stays < input > port.txt 2>&1 &
pid=$!
exec 4> input
for _ in $(seq 600); do grep -q waits port.txt && break; sleep 0.1; done
port=$(od -An -tu2 -j36 -N2 port.mlpd | tr -d ' ')
check "the port is in the file" [ "$port" -gt 0 ]
check "and listens on the loopback address only" bash -c "! grep -qi ' 00000000:$(printf %04X "$port") 00000000:0000 0A' /proc/net/tcp"
shots() { "$vervet" report port.mlpd | grep -c '^Heapshot'; }
# One, and another by the same client.
exec 3<> "/dev/tcp/127.0.0.1/$port"
for n in 1 2; do
    echo heapshot >&3
    for _ in $(seq 300); do [ "$(shots)" -ge $n ] && break; sleep 0.1; done
    check "heapshot $n on demand" [ "$(shots)" = $n ]
done
exec 3>&-
echo >&4; exec 4>&-
wait $pid
check "the program ends as without a port" [ $? = 0 ]
check "a port that is taken" ends 1 "$vervet" --profile=log:port=256.0.0.1:1 Shot.exe
check "code that is no method's" ends 0 "$vervet" --profile=log:nodefaults,jit,output=jit.mlpd Shot.exe
if command -v mprof-report > /dev/null; then
    mprof-report --reports=jit jit.mlpd > mprof.txt
    check "mprof-report: helpers" has 'JIT helpers: +[1-9]' mprof.txt
fi

# ---- from outside -----------------------------------------------------------------------------------------------------------------
mcs -out:Goes.exe "$here/profiler/Goes.cs" || { echo "  FAILED: profiler: mcs"; exit 1; }
until_has() { for _ in $(seq 600); do grep -qE -- "$1" "$2" && return; sleep 0.1; done; echo "no '$1' in $2:"; cat "$2"; return 1; } # pattern, file
goes() { # starts Goes.exe, whose input is descriptor 4
    rm -f input; mkfifo input
    "$vervet" "$@" Goes.exe < input > goes.txt 2> goes.err &
    pid=$!
    exec 4> input
    check "a program that goes on" until_has goes goes.txt
}
gone() { # code
    echo >&4; exec 4>&-
    wait $pid
    local code=$?
    [ $code = "$1" ] || { echo "code $code, not $1"; cat goes.txt goes.err; return 1; }
}
goes
# Nobody reads the first recording, so its writer does not come to the end.
mkfifo full
exec 5<> full
"$vervet" profile $pid --seconds 0.5 --events nodefaults,gcalloc -o full > first.txt 2>&1 &
first=$!
for _ in $(seq 600); do read -t 0 -u 5 && break; sleep 0.1; done
# Refused because one is under way, then because it is being written.
refused() { for _ in $(seq 100); do "$vervet" profile $pid --seconds 0.1 -o second.mlpd > second.txt 2>&1 && return 1; grep -q "$1" second.txt && return; sleep 0.1; done; cat second.txt; return 1; }
check "a second recording has to wait for the writer of the first" refused 'the last recording is still being written'
check "and leaves no file" [ ! -e second.mlpd ]
cat full > full.mlpd 5>&- &
reader=$!
# The reader ends when nobody writes any more.
for _ in $(seq 600); do [ -s full.mlpd ] && break; sleep 0.1; done
exec 5>&-
wait $first; check "the first one ends" [ $? = 0 ]
wait $reader
check "its report" ends 0 "$vervet" report full.mlpd
check "has the objects" has 'System.Byte\[\]' out
check "a second recording" ends 0 "$vervet" profile $pid --seconds 0.2 --events nodefaults,gcalloc -o second.mlpd
check "its report" ends 0 "$vervet" report second.mlpd
check "has the objects" has 'System.Byte\[\]' out
check "threads that were there have their names" ends 0 "$vervet" report --thread 'clerk 1' second.mlpd
check "and what they made" has 'System.Byte\[\]' out
check "the program ends as without recordings" gone 3
check "and without a word" [ ! -s goes.err ]

# ---- another program, another process -----------------------------------------------------------------------------------------------
mcs -out:Leaves.exe "$here/profiler/Leaves.cs" || { echo "  FAILED: profiler: mcs"; exit 1; }
if python=$(command -v python3); then
    for mode in sample sample-real; do
        check "a pending signal of $mode does not end the next program" ends 3 "$vervet" --profile=log:nodefaults,$mode=1000,output=exec.mlpd Leaves.exe \
            exec "$python" -c 'import signal, sys; signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPROF]); sys.exit(3)'
    done
fi
check "a program that unloads domains" mcs -out:Domains.exe "$here/profiler/Domains.cs"
check "its run" ends 0 "$vervet" --profile=log:nodefaults,output=domains.mlpd Domains.exe
if command -v mprof-report > /dev/null; then
    mprof-report domains.mlpd > mprof.txt 2>&1
    check "mprof-report: domains" has 'Domain: 0x1, friendly name: "child 2"' mprof.txt
    check "mprof-report: the context of the last" has 'Context: \(nil\), domain: 0x1' mprof.txt
    check "mprof-report: reads all of it" bash -c '! grep -q unhandled mprof.txt'
fi
if [ -e Reader.exe ]; then
    check "Mono.Profiler.Log.dll reads it" ends 0 "$vervet" Reader.exe domains.mlpd
    for event in AppDomainLoadEvent:4 AppDomainUnloadEvent:3 ContextLoadEvent:4 ContextUnloadEvent:3 AssemblyUnloadEvent:3; do check "its $event" has "^${event/:/ }$" out; done
fi
check "a forked process that goes on" ends 0 timeout 15 "$vervet" --profile=log:sample=1000,monitor,output=fork.mlpd Leaves.exe fork
check "ends by itself" has 'the child ended with 5' out

# ---- ends of the process --------------------------------------------------------------------------------------------------------
check "an unhandled exception" ends 1 "$vervet" --profile=log:nodefaults,exception,output=throw.mlpd Shapes.exe throw
check "its report" ends 0 "$vervet" report throw.mlpd
check "the last throw is in it" has 'Shapes:Main$' out
check "a heapshot at the end by an unhandled exception" ends 1 "$vervet" --profile=log:nodefaults,heapshot-on-shutdown,output=throw.mlpd Shapes.exe throw
check "its report" ends 0 "$vervet" report throw.mlpd
check "has it" has '^Heapshot 1' out
check "Environment.Exit" ends 7 "$vervet" --profile=log:nodefaults,exception,zip,output=exit.mlpd Shapes.exe exit
check "its report, unpacked" ends 0 "$vervet" report exit.mlpd
"$vervet" --profile=log:nodefaults,exception,output=kill.mlpd Shapes.exe hang > hang.txt 2>&1 &
pid=$!
for _ in $(seq 600); do grep -q hangs hang.txt && break; sleep 0.1; done
kill -KILL $pid; wait $pid 2> /dev/null
check "the report of a killed process" ends 0 "$vervet" report kill.mlpd
check "has what was recorded before" has '^ +10  Shapes:Fail' out
check "a full disk" ends 0 "$vervet" --profile=log:gc,output=/dev/full Shapes.exe
check "is reported" has "the recording ends here: cannot write to '/dev/full'" err
check "once" [ "$(grep -c 'recording ends here' err)" = 1 ]

# ---- options --------------------------------------------------------------------------------------------------------------------
check "an unknown item" ends 1 "$vervet" --profile=log:nonsense Shapes.exe
check "lists the known ones" has "'nonsense' is not an item of --profile=log; the items are .*gcalloc" err
check "another profiler" ends 1 "$vervet" --profile=cov Shapes.exe
check "a file that cannot be made" ends 1 "$vervet" --profile=log:gc,output=/nowhere/x Shapes.exe
check "help" ends 0 "$vervet" --profile=log:help Shapes.exe
check "a command" ends 0 "$vervet" '--profile=log:gc,output=|cat > "piped.mlpd"' Shapes.exe
check "its report" ends 0 "$vervet" report piped.mlpd
check "names with the process" ends 0 "$vervet" --profile=log:gc,output=+named-%%.mlpd Shapes.exe
check "are replaced" bash -c 'ls named-%.mlpd.[0-9]*'

echo "profiler: $passed checks passed, $errors failed"
exit $((errors > 0))
