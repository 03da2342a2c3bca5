#!/bin/bash
# Times green threads beside their peers, all in one run on the same processors, RUNS (3) times:
#
#   vervet-green, vervet-threads, vervet-async     green threads, threads of the operating system, async/await
#   mono-…, coreclr-…                              the last two on mono and on .NET 8 (3.1 where there is no 8)
#   go, java                                       goroutines, and virtual threads (Java 21 or newer, the newest there is)
#   vervet-all                                     the server with threads, and the option --green-threads=all
#   go-nethttp                                     Go's own HTTP server; the others run the server of samples/http
#
#   benches/green.sh VERVET [GROUP...]      `-` for VERVET leaves it out; groups: switch park echo http, default all
#   QUICK=1 benches/green.sh VERVET         a look at whether everything works; its figures mean little
#   PEERS='vervet-green go' …               only these
#
# switch  yield and resume; start and end, one by one and in batches of 1,000; 1,000 frames deep; a semaphore's round trip; exceptions
#         through 10 and 100 frames, after a wait; a call at the median depth of a stack, and at the slowest
# park    PARKED (1,000,000) that wait, PARKED_THREADS (2,000) of the operating system: time, memory, minor collections
# echo    a message and its echo over loopback, both ends in the process, 1 and 100 connections
# http    requests per second and percentiles of the answers' times, asked by crates/load over so many CONNECTIONS
#         (1 64 1000 10000 1000@10000): as often as there are answers, or, N@R, R times a second in all. `fewest`: how many answers
#         the connection had that had the fewest, in percent of the mean
#
# SECONDS_EACH (0.5) for a figure of `switch`, HTTP_SECONDS (5) and WARM_UP (3) for one of `http`. DOTNET, JAVA_HOME: where .NET 8
# and Java are, if not on the path. A program checks its own result; a run that fails counts for nothing and is said. A peer that is
# missing is skipped, and said so. The table shows medians, what vervet-green takes of the best peer's, and whether
# benches/green/aims.txt is met; every single value is in .cache/benches/green/values.tsv.
set -uo pipefail

[ "${1:-}" ] || { sed -n '2,28s/^# \{0,1\}//p' "$0"; exit 2; }
if [ -n "${QUICK:-}" ]; then
    runs=${RUNS:-1} seconds_each=${SECONDS_EACH:-0.05} parked=${PARKED:-20000} parked_threads=${PARKED_THREADS:-500}
    http_seconds=${HTTP_SECONDS:-1} warm_up=${WARM_UP:-1} connections=${CONNECTIONS:-1 64 1000 64@2000} roundtrips=${ROUNDTRIPS:-4000}
else
    runs=${RUNS:-3} seconds_each=${SECONDS_EACH:-0.5} parked=${PARKED:-1000000} parked_threads=${PARKED_THREADS:-2000}
    http_seconds=${HTTP_SECONDS:-5} warm_up=${WARM_UP:-3} connections=${CONNECTIONS:-1 64 1000 10000 1000@10000} roundtrips=${ROUNDTRIPS:-40000}
fi
vervet=
[ "$1" = - ] || vervet=$(realpath "$1")
shift
groups=${*:-switch park echo http}
cd "$(dirname "$0")/.." || exit 1
root=$PWD out=$PWD/.cache/benches/green src=$PWD/benches/green probe=Green probe_arguments='async park 10'
mkdir -p "$out"
. benches/peers.sh

# ---- programs and peers --------------------------------------------------------------------------------------------

compile() { # name, sources...
    local name=$1; shift
    mcs -nologo -optimize -langversion:latest -warn:0 "-out:$out/$name.exe" "$@" || exit 1
}
compile Green "$src"/{Green,Blocking,Async,GreenThreads}.cs benches/gc/Bench.cs
compile Echo benches/net/Echo.cs "$src/GreenThreads.cs" benches/gc/Bench.cs
compile HttpAsync samples/http/{Async,Http}.cs
compile HttpThreads samples/http/{Threads,Sync,Http}.cs

# The server on green threads is compiled as a user does it, with the reference assembly.
green_threads() {
    "$vervet" "$out/Green.exe" green park 10 > "$out/green.log" 2>&1 || { grep -m1 . "$out/green.log"; return 1; }
    { "$vervet" ref "$out/ref" &&
      mcs -nologo -optimize -langversion:latest "-lib:$out/ref" "-out:$out/HttpGreen.exe" samples/http/{Green,Sync,Http}.cs
    } > "$out/green.log" 2>&1 || { grep -m1 error "$out/green.log"; return 1; }
}

# The load generator is beside the runtime, if that comes from this folder's build.
case " $groups " in *' http '*)
    for load in "${LOAD:-}" "$(dirname "${vervet:-/}")/vervet-load" "${CARGO_TARGET_DIR:-target}/release/vervet-load"; do
        [ -x "$load" ] && break
    done
    [ -x "$load" ] || { echo 'vervet-load is missing: cargo build --release -p vervet-load' >&2; exit 1; }
    load=$(realpath "$load")
    # A descriptor for each connection, in the server and in the load generator.
    ulimit -n "$(ulimit -Hn)"
    most=0
    for n in $connections; do [ "${n%@*}" -le "$most" ] || most=${n%@*}; done
    limit=$(ulimit -n)
    if [ "$limit" != unlimited ] && [ "$limit" -lt $((most + 200)) ]; then
        ulimit -n $((most + 200)) 2> /dev/null || {
            echo "$most connections need $((most + 200)) file descriptors, and the hard limit is $limit:" \
                "raise it (as root: ulimit -Hn $((most + 200))), or set CONNECTIONS" >&2
            exit 1
        }
    fi ;;
esac

labels=()
add() { # labels: those that are wanted
    local label
    for label; do
        [ -n "${PEERS:-}" ] && case " $PEERS " in *" $label "*) ;; *) continue ;; esac
        labels+=("$label")
    done
}
if [ -n "$vervet" ]; then
    if why=$(green_threads); then add vervet-green; else skipped "vervet-green: ${why:-it does not run}"; fi
    "$vervet" --green-threads=all "$out/Green.exe" async park 10 > "$out/green.log" 2>&1 && add vervet-all
    add vervet-threads vervet-async
fi
if command -v mono > /dev/null; then add mono-threads mono-async; else skipped 'mono is not installed'; fi
if coreclr_8; then add coreclr-threads coreclr-async
elif coreclr; then
    echo 'CoreCLR is 3.1: .NET 8 is not installed (DOTNET says where it is)'
    clr=("$host" exec --runtimeconfig "$root/.cache/coreclr/bench.json")
    add coreclr-threads coreclr-async
else skipped '.NET 8 is not installed (DOTNET says where it is)'; fi
if ! command -v go > /dev/null; then skipped 'go is not installed'
elif (cd "$src/go" && go build -o "$out/greenbench" .); then add go go-nethttp
else skipped 'the Go program does not compile'; fi
if ! java_home; then skipped 'a JDK with virtual threads (21 or newer) is not installed (JAVA_HOME says where it is)'
elif "$java/javac" -d "$out/java" "$src/java/Green.java"; then add java
else skipped 'the Java program does not compile'; fi

echo "$(nproc) processors, Linux $(uname -r), $(awk '/MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo) GiB;" \
    "${vervet:+$("$vervet" --version | head -1 | cut -d, -f1);}" \
    "$(command -v mono > /dev/null && mono --version | head -1 | cut -d' ' -f1-5);" \
    "$(command -v go > /dev/null && go version | cut -d' ' -f3);" \
    "${java:+$("$java/java" --version | head -1)}"
# 12 KiB each, and what the machine needs besides.
room=$(awk '/MemAvailable/ { printf "%d", ($2 - 2097152) / 12 }' /proc/meminfo)
if [ "$room" -lt "$parked" ]; then
    echo "park: $room rather than $parked, because no more memory is free"
    parked=$room
fi

# ---- running -------------------------------------------------------------------------------------------------------

values=$out/values.tsv
: > "$values"

# Adds the figures in a file to the values.
note() { # label, file
    awk -v OFS='\t' -v r="$1" '/^[a-z][^ ]* -?[0-9.]+ [A-Za-z1\/%]+$/ { sub(/^echo-(sync|green|async)-/, "echo-", $1); print r, $1, $2, $3 }' "$2" \
        >> "$values"
}
run() { # label, command...
    local label=$1 code; shift
    timeout 600 "$@" > "$out/stdout" 2> "$out/stderr" < /dev/null
    code=$?
    if [ $code = 0 ]; then note "$label" "$out/stdout"
    else echo "$label: ${*##*/}: code $code: $(grep -m1 . "$out/stderr" | cut -c1-160)"; fi
}

# Sets `command` to what runs a C# program on the runtime of a label.
on_runtime() { # label, program, arguments...
    local program=$out/$2.exe
    case $1 in
        vervet-all) command=("$vervet" --green-threads=all "$program") ;;
        vervet-*)  command=("$vervet" "$program") ;;
        mono-*)    command=(mono "$program") ;;
        coreclr-*) command=("${clr[@]}" "$program") ;;
    esac
    shift 2
    command+=("$@")
}

group_switch() { # label
    case $1 in
        go-nethttp|vervet-all) ;;
        go)   run go "$out/greenbench" switch "$seconds_each" ;;
        java) run java "$java/java" -cp "$out/java" Green switch "$seconds_each" ;;
        *)    on_runtime "$1" Green "${1#*-}" switch "$seconds_each"; run "$1" "${command[@]}" ;;
    esac
}

group_park() { # label
    local count=$parked
    case $1 in
        go-nethttp|vervet-all) ;;
        go)   run go "$out/greenbench" park "$count" ;;
        java) run java "$java/java" -cp "$out/java" Green park "$count" ;;
        *)    case $1 in *-threads) count=$parked_threads ;; esac
              on_runtime "$1" Green "${1#*-}" park "$count"; run "$1" "${command[@]}" ;;
    esac
}

group_echo() { # label
    local n way=${1#*-}
    [ "$way" = threads ] && way=sync
    for n in 1 100; do
        case $1 in
            go-nethttp|vervet-all) ;;
            go)   run go "$out/greenbench" echo $n "$roundtrips" ;;
            java) run java "$java/java" -cp "$out/java" Green echo $n "$roundtrips" ;;
            *)    on_runtime "$1" Echo "$way" $n "$roundtrips"; run "$1" "${command[@]}" ;;
        esac
    done
}

port=${PORT:-18080}
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null' EXIT
group_http() { # label
    local n name rate command
    for n in $connections; do
        name=http-$n rate=()
        case $n in *@*) rate=(--rate "${n#*@}"); n=${n%@*} ;; esac
        port=$((port + 1))
        case $1 in
            go)         command=("$out/greenbench" http $port) ;;
            go-nethttp) command=("$out/greenbench" nethttp $port) ;;
            java)       command=("$java/java" -cp "$out/java" Green http $port) ;;
            *-green)    on_runtime "$1" HttpGreen $port ;;
            *-threads|vervet-all) on_runtime "$1" HttpThreads $port ;;
            *-async)    on_runtime "$1" HttpAsync $port ;;
        esac
        "${command[@]}" > "$out/server.stdout" 2> "$out/server.stderr" < /dev/null &
        server=$!
        if timeout 180 "$load" "127.0.0.1:$port" --connections "$n" ${rate[@]+"${rate[@]}"} --seconds "$http_seconds" --warm-up "$warm_up" \
            --expect 'Hello, World!' --name "$name" > "$out/stdout" 2> "$out/stderr"; then
            note "$1" "$out/stdout"
            awk -v name="$name" '/^VmHWM/ { printf "%s-peak-memory %.1f MiB\n", name, $2 / 1024 }' "/proc/$server/status" > "$out/memory"
            note "$1" "$out/memory"
        else
            echo "$1: $name: $(cat "$out/stderr" "$out/server.stderr" | grep -m1 . | cut -c1-200)"
        fi
        kill "$server" 2> /dev/null
        wait "$server" 2> /dev/null
        server=
    done
}

for ((i = 0; i < runs; i++)); do
    for group in $groups; do
        for label in "${labels[@]}"; do "group_$group" "$label"; done
    done
done

# ---- the table -----------------------------------------------------------------------------------------------------

sort -t $'\t' -k2,2 -k1,1 -k3,3g "$values" |
    awk -F '\t' -v aims="$src/aims.txt" -v order="$values" -v runs="$runs" -v columns="${labels[*]}" -f "$src/table.awk"
