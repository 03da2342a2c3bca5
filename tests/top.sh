#!/bin/bash
# `vervet top` beside a program that runs, and what else SIGQUIT is for.
#
#   tests/top.sh VERVET       checks the command
set -uo pipefail

[ $# -eq 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; }
vervet=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
errors=0 passed=0 pid=
# A directory of our own: what else runs here is left alone.
export XDG_RUNTIME_DIR=$work/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
meeting=$XDG_RUNTIME_DIR/vervet-$(id -u)
cleanup() {
    [ -n "$pid" ] && kill -KILL "$pid" 2> /dev/null
    rm -rf "$work"
}
trap cleanup EXIT

begin() { # options...: starts the program and waits until it runs
    exec 7> >(:)
    mkfifo "$work/in$passed$errors" && mkfifo "$work/out$passed$errors"
    "$vervet" "$@" "$work/Busy.exe" < "$work/in$passed$errors" > "$work/out$passed$errors" 2> "$work/err" &
    pid=$!
    exec 7> "$work/in$passed$errors"
    read -r _ < "$work/out$passed$errors"
}
end() { # ends it
    exec 7>&-
    wait "$pid" 2> /dev/null
    pid=
}
check() { # what, pattern...: the last output has each
    local what=$1 pattern; shift
    for pattern; do
        grep -q -e "$pattern" "$work/said" && continue
        errors=$((errors + 1))
        echo "  FAILED: top: $what: '$pattern' is not in"; sed 's/^/    /' "$work/said" | head -n 40
        return
    done
    passed=$((passed + 1))
}
top() { timeout 60 "$vervet" top "$@" > "$work/said" 2>&1; echo "code $?" >> "$work/said"; }
dumped() { # the program writes the dump of its stacks to its error stream
    kill -QUIT "$pid"
    for _ in $(seq 100); do grep -q '^"worker"' "$work/err" && break; sleep 0.1; done
    cp "$work/err" "$work/said"; : > "$work/err"
}

mcs -nologo -out:"$work/Busy.exe" tests/top/Busy.cs || { echo "  FAILED: top: mcs"; exit 1; }

# The program is known by its memory, not by its name.
cp "$vervet" "$work/runner"
named=$vervet vervet=$work/runner
begin
vervet=$named
top "$pid" --times 1 --every 0.2
check "another name" "Busy:" "code 0"
end
begin
before=$(ls "/proc/$pid/task" | wc -l)
top "$pid" --times 1 --every 1 --looks 40
check picture "MiB a second allocated" "Busy:Seven ()" 'thread: "waiter" #[0-9]*: waits for the monitor of System.Object' 'which "Main" #1 owns' "code 0"
top "$pid" --stacks
check stacks "^Full thread dump:" "at Busy:Main ()" "code 0"
[ -s "$work/err" ] && cp "$work/err" "$work/said" && check "attaching writes no dump" "^nothing$"
for _ in $(seq 50); do [ "$(ls "/proc/$pid/task" | wc -l)" -le "$before" ] && break; sleep 0.1; done
echo "threads $before $(ls "/proc/$pid/task" | wc -l), files $(ls "$meeting" | wc -l)" > "$work/said"
check "nothing stays behind" "threads $before $before, files 0"
dumped
check "SIGQUIT dumps as before" "^Full thread dump:" '^"waiter"'
# Somebody asked and was killed: the name is still there, and nobody listens.
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$meeting/attach-$pid"
dumped
[ -e "$meeting/attach-$pid" ] && echo "the name stayed" > "$work/said"
check "a name without a listener" "^Full thread dump:"
# A directory that others could change.
chmod 755 "$meeting"
top "$pid"
check "an open directory" "is open to other users" "code 1"
dumped
check "an open directory, and SIGQUIT" "^Full thread dump:"
chmod 700 "$meeting"
# Nonsense from who attaches, and one who leaves in the middle, do the program no harm.
python3 - "$meeting/attach-$pid" "$pid" > "$work/said" 2>&1 << 'END'
import os, signal, socket, sys
for question in (b"look 1\n", b"look 99999 1\n", b"\xff\0\n", b"x" * 5000 + b"\n", b"look 200 10\n"):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        os.kill(int(sys.argv[2]), signal.SIGQUIT)
        connection = listener.accept()[0]
        os.unlink(sys.argv[1])
        connection.sendall(question)
        print("closed" if question.endswith(b"200 10\n") else connection.recv(100).split(b"\t")[0].decode() or "end")
        connection.close()
END
tr '\n' ' ' < "$work/said" > "$work/line"; mv "$work/line" "$work/said"
# (A question that is no UTF-8, or has no end, ends the conversation.)
check nonsense "^error error end end closed $"
top "$pid" --times 1 --every 0.2
check "after nonsense" "Busy:" "code 0"
# A recording of a second, and one whose command is killed: the program ends that by itself.
timeout 60 "$vervet" profile "$pid" --seconds 1 -o "$work/one.mlpd" > "$work/said" 2>&1
"$vervet" report "$work/one.mlpd" >> "$work/said" 2>&1
check recording "one.mlpd is written" "Busy:Seven ()" "Busy:Three ()"
"$vervet" profile "$pid" --seconds 60 -o "$work/two.mlpd" & other=$!
sleep 1
kill -KILL "$other"; wait "$other" 2> /dev/null
for _ in $(seq 50); do
    timeout 60 "$vervet" profile "$pid" --seconds 0.5 -o "$work/three.mlpd" > "$work/said" 2>&1 && break
    sleep 0.1
done
check "a recording whose command was killed ends" "three.mlpd is written"
timeout 60 "$vervet" profile "$pid" --events calls > "$work/said" 2>&1
check "what cannot be recorded now" "calls are recorded from the start of the program only"
end

begin --green-threads=all
top "$pid" --times 1 --every 0.5
check "green threads" 'green thread: "waiter" #[0-9]*: waits for the monitor' "Busy:Seven ()"
end

sleep 60 & other=$!
top "$other"
check "another program" "is no program that Vervet runs" "code 1"
kill "$other" 2> "$work/said" && echo alive > "$work/said"
check "another program lives on" alive
top 4194305; check "no process" "there is no process 4194305" "code 1"
top one; check "no number" "invalid value 'one'" "code 1"
top 1 --every 0; check "no interval" "from 0.1 to 60" "code 1"
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    chmod 755 "$work"; chmod 644 "$work/Busy.exe"
    mkfifo "$work/in" "$work/out"
    VERVET_CACHE=off setpriv --reuid=65534 --regid=65534 --clear-groups "$vervet" "$work/Busy.exe" < "$work/in" > "$work/out" 2> /dev/null & pid=$!
    exec 7> "$work/in"
    # The command may lie where that user cannot read.
    if read -r -t 20 _ < "$work/out"; then
        top "$pid"
        check "another user's program" "belongs to another user" "code 1"
    else echo "skipped: another user's program: it does not start"; fi
    end
fi
echo "top: $passed of $((passed + errors)) cases as expected"
[ "$errors" = 0 ]
