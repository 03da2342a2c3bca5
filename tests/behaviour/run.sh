#!/bin/bash
# Runs each case in tests/behaviour/cases and compares its transcript with the one beside it, which Mono wrote.
#
#   tests/behaviour/run.sh [case…]             with $VERVET, $JOBS cases at a time; prints `ok` or a diff per case
#   tests/behaviour/run.sh --record [case…]    writes cases/X.expected from what mono prints
#
# A case is a bash script of `cs` (compile), `run` (run and write down stdout, stderr and exit code) and what else it
# needs, in a fresh directory of its own. A case with `# by: vervet` on its first line has no counterpart in Mono: its
# transcript is what Vervet printed. MVIDs and the directory's path are normalised.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
CACHE=${CACHE:-$(cd "$here/../.." && pwd)/.cache}
record=
[ "${1:-}" = --record ] && { record=1; shift; }
[ $# -gt 0 ] || set -- $(cd "$here/cases" && ls *.sh | sed 's/\.sh$//')
case ${VERVET:=$here/../../target/ci/vervet} in */*) VERVET=$(realpath -s "$VERVET") ;; esac
limit=${PROGRAM_LIMIT:-60}
export LC_ALL=C.UTF-8 TERM=xterm
unset MONO_OPTIONS MONO_ENV_OPTIONS MONO_PATH MONO_GAC_PREFIX MONO_CONFIG

# cs NAME [mcs options]: compiles src/NAME.cs to NAME.exe here, unless -out: says otherwise.
cs() {
    local name=$1 out=$1.exe key a; shift
    for a; do case $a in -out:*) out=${a#-out:} ;; esac; done
    key=$programs/$(cat "$here/src/$name.cs" <(echo "$name" "$*") | md5sum | cut -c1-16)
    if [ ! -e "$key/$out" ]; then
        cp "$here/src/$name.cs" .
        mcs -nologo -unsafe -langversion:latest -warn:0 "-out:$out" "$@" "$name.cs" || return 1
        mkdir -p "$(dirname "$key/$out")"
        [ ! -e "$out.mdb" ] || keep "$out.mdb"
        keep "$out"
        rm -f "$name.cs"
    else
        mkdir -p "$(dirname "$out")"
        cp "$key/$out" "$out"
        [ ! -e "$key/$out.mdb" ] || cp "$key/$out.mdb" "$out.mdb"
    fi
}
# Puts a file of this directory among the compiled programs, at once as a whole: another case may be looking for it.
keep() { cp "$1" "$key/$1.$BASHPID" && mv "$key/$1.$BASHPID" "$key/$1"; }
normalise() {
    sed -E -e "s,$work,WORK,g" -e 's/<[0-9a-f]{32}>/<mvid>/g' -e 's/[[:space:]]+$//' -e 's/\r//g' -e '$a\' "$@"
}
# Writes a command down and what it did; stdin is /dev/null unless it is redirected at the call.
note() {
    local code=0
    echo "\$ ${SHOWN:-$*}" | normalise
    { timeout -k 5 "$limit" "$@" > .stdout 2> .stderr; } 2> /dev/null
    code=$?
    normalise .stdout | sed 's/^/out| /'
    normalise .stderr | sed 's/^/err| /'
    echo "exit $code"
}
run() {
    local input=/dev/null
    [ ! -p /dev/stdin ] || input=/dev/stdin
    SHOWN="vervet $*" note "$VERVET" "$@" < $input
}

programs=$CACHE/behaviour/programs verdicts=$CACHE/behaviour/verdicts

# Runs one case and writes what came of it to a file of its own.
one() {
    local name=$1 script=$here/cases/$1.sh vm=$VERVET by work=$CACHE/behaviour/$1
    by=$(sed -n '1s/^# by: *//p' "$script")
    [ -z "$record" ] || [ -n "$by" ] || vm=$(command -v mono)
    rm -rf "$work"
    mkdir -p "$work"
    (VERVET=$vm; export VERVET; cd "$work" && . "$script") > "$work.actual" 2>&1
    if [ -n "$record" ]; then cp "$work.actual" "$here/cases/$name.expected"
    elif cmp -s "$here/cases/$name.expected" "$work.actual"; then echo "ok $name"
    else
        echo "differs $name"
        diff "$here/cases/$name.expected" "$work.actual" | head -n "${DIFF_LINES:-20}" | sed 's/^/    /'
    fi > "$verdicts/$name"
}

rm -rf "$verdicts"
mkdir -p "$verdicts"
# Cases that say `# long` start first: the last to end is not one that has just begun.
long() { grep -qx '# long' "$here/cases/$1.sh"; }
{ for name; do if long "$name"; then echo "0 $name"; else echo "1 $name"; fi; done; } | sort -s -k1,1 | cut -d' ' -f2 > "$verdicts/.order"
for name in $(< "$verdicts/.order"); do
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
    one "$name" &
done
wait
[ -n "$record" ] && exit
bad=0
for name; do
    # A case that came to no verdict is a difference.
    [ -s "$verdicts/$name" ] || echo "differs $name: no verdict" > "$verdicts/$name"
    cat "$verdicts/$name"
    grep -q '^ok' "$verdicts/$name" || bad=$((bad + 1))
done
exit $((bad > 0))
