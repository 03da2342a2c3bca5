#!/bin/bash
# Compiles the stand-alone programs of Mono's runtime tests into .cache/mono-tests.
#
# A program is built when plain `mcs` or `ilasm` can build it, or tests/conformance/build-apart.sh; the rest need native helpers
# or another compiler. They are listed in .cache/mono-tests/not-built.txt, and that is not an error.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
export SRC=$root/.cache/mono-src/mono/tests OUT=$root/.cache/mono-tests

"$root/tests/fetch-mono-sources.sh"
mkdir -p "$OUT"

if [ ! -e "$OUT/TestDriver.dll" ]; then
    mcs -nologo -unsafe -nowarn:1-9999 -t:library "-out:$OUT/TestDriver.dll" \
        "$SRC/../mini/TestDriver.cs" "$SRC/../mini/TestHelpers.cs" > /dev/null 2>&1
fi

# The native half of the tests of P/Invoke, with the parts of eglib that it calls.
libtest=$OUT/libtest.so
headers=$root/tests/conformance/libtest
if [ ! -e "$libtest" ] || [ "$SRC/libtest.c" -nt "$libtest" ] || [ "$headers/config.h" -nt "$libtest" ] || [ "$headers/eglib-config.h" -nt "$libtest" ]; then
    eglib=$SRC/../eglib
    cc -shared -fPIC -O1 -w -Wl,-z,defs -I "$headers" -I "$SRC/../.." -I "$eglib" -o "$libtest.new" "$SRC/libtest.c" \
        "$eglib"/{garray,gdir-unix,gerror,gfile,gfile-posix,gfile-unix,giconv,gmem,gmisc-unix,gmodule-unix,goutput,gpath,gslist,gstr,gstring,gunicode,gutf8}.c \
        -lm -ldl -lpthread 2> "$libtest.log" || { cat "$libtest.log" >&2; exit 1; }
    mv "$libtest.new" "$libtest"
fi

export MCS="-nologo -unsafe -debug- -langversion:latest -r:System.dll -r:System.Core.dll -r:System.Xml.dll -r:System.Numerics.dll -r:Mono.Posix.dll
-r:Mono.Simd.dll -r:System.Transactions.dll -r:$OUT/TestDriver.dll"
target() {
    local name=${1#"$SRC"/}
    case $name in *.il) target=$OUT/${name%.il}-il.exe ;; *) target=$OUT/${name%.*}.exe ;; esac
}
made() { { [ -e "$2" ] && [ ! "$1" -nt "$2" ]; } || { [ -e "$2.failed" ] && [ ! "$1" -nt "$2.failed" ]; }; }
compile_one() {
    local source=$1 target
    target "$source"
    mkdir -p "$(dirname "$target")"
    made "$source" "$target" && return 0
    # shellcheck disable=SC2086
    case $source in
        *.cs) timeout 60 mcs $MCS "-out:$target" "$source" > "$target.failed" 2>&1 ;;
        *.il) timeout 60 ilasm -quiet "-output:$target" "$source" > "$target.failed" 2>&1 ;;
    esac && [ -e "$target" ] && rm -f "$target.failed" || { rm -f "$target"; touch "$target.failed"; }
}
export -f target made compile_one
sources() { { find "$SRC" -maxdepth 1 -name "*.$1" -print0; find "$SRC/tailcall" -mindepth 2 -name "*.$1" -print0; } | sort -z; }

# The assembler's programs need nothing of the others.
sources il | xargs -0 -n 8 -P "$(nproc)" bash -c 'for source; do compile_one "$source"; done' - &
assembling=$!
"$root/tests/conformance/build-apart.sh"
wait $assembling
sources cs | while IFS= read -r -d '' source; do
    target "$source"
    made "$source" "$target" || echo "$target" $MCS "$source"
done | tr ' ' '\t' | "$root/tests/compile/batch.sh"
sources cs | xargs -0 -n 1 -P "$(nproc)" bash -c 'compile_one "$0"'

cd "$OUT"
for failed in *.failed; do
    [ -e "$failed" ] && printf '%s: %s\n' "${failed%.exe.failed}" "$(grep -m1 -oE '(error|Error).*' "$failed" | cut -c1-120)"
done > not-built.txt || true
echo "build-mono-tests: $(ls ./*.exe | wc -l) programs built, $(wc -l < not-built.txt) not"
