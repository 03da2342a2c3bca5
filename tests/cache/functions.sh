# What tests/cache.sh and tests/aot.sh share: programs, directories, and what a run must print. Sourced, in a script of tests/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
work=${CACHE:-$PWD/.cache}/code-cache
mkdir -p "$work" && chmod 700 "$work"
unset VERVET_CACHE XDG_CACHE_HOME
# No test sees what the machine has compiled ahead.
export VERVET_CACHE_DIR=$work/code VERVET_SYSTEM_CACHE_DIR=$work/system
case=

ok() { echo "ok $case"; }
differs() { echo "differs $case: $*"; }
fresh() { rm -rf "$work/code" "$work/system"; }
# Programs are made once.
build() {
    [ "$work/Library.dll" -nt tests/cache/Library.cs ] || { mcs -nologo -target:library "-out:$work/Library.dll" tests/cache/Library.cs; }
    [ "$work/Order.exe" -nt tests/cache/Order.cs ] || { mcs -nologo -r:System.Core.dll "-r:$work/Library.dll" "-out:$work/Order.exe" tests/cache/Order.cs; }
    [ "$work/Second.exe" -nt tests/cache/Second.cs ] || { mcs -nologo "-out:$work/Second.exe" tests/cache/Second.cs; }
    if [ ! "$work/Loads.exe" -nt tests/cache/Loads.cs ]; then
        for name in D C B; do mcs -nologo -target:library "-lib:$work" $([ $name = D ] || echo -r:LoadsD.dll) "-out:$work/Loads$name.dll" "tests/cache/Loads$name.cs"; done
        mcs -nologo -optimize "-lib:$work" -r:LoadsB.dll,LoadsC.dll,LoadsD.dll "-out:$work/Loads.exe" tests/cache/Loads.cs
    fi
    [ "$work/Odd.exe" -nt tests/cache/Odd.cs ] || { mcs -nologo -r:System.dll "-r:$work/Library.dll" "-out:$work/Odd.exe" tests/cache/Odd.cs; }
}
# run MODE ARGUMENTS: the program's output in $out, the counters in $stats.
run() {
    local mode=$1; shift
    out=$("$VERVET" --stats "--cache=$mode" "$work/${program:-Order}.exe" "$@" 2> "$work/stats"); code=$?
    stats=$(cat "$work/stats")
    hits=$(sed -n 's/^methods from cache *\([0-9]*\).*/\1/p' "$work/stats")
}
# same WHAT: the output is that of a run without a cache.
same() {
    if [ "$out" != "$wanted" ] || [ "$code" != 0 ]; then
        differs "$1: code $code, $(diff <(echo "$wanted") <(echo "$out") | sed -n 2p) $(grep -m1 'internal error' "$work/stats")"
        return 1
    fi
}
warm() { [ "${hits:-0}" -gt 100 ] || { differs "$1: ${hits:-no} hits; $(grep cache "$work/stats" | head -n 2 | tr '\n' ' ')"; return 1; }; }
cold() { [ "${hits:-0}" = 0 ] || { differs "$1: $hits hits"; return 1; }; }

build
run off; wanted=$out
[ -n "$wanted" ] || { case=program; differs "it prints nothing"; exit 1; }

