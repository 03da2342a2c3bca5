#!/bin/bash
# Builds those of Mono's runtime tests that need assemblies of their own, as that suite's Makefile does: libraries first, some of
# which are replaced by another version once the program is compiled. Called by build-mono-tests.sh with SRC and OUT.
set -euo pipefail

cd "$OUT"
stamp=.apart
script=${BASH_SOURCE[0]}
[ "$stamp" -nt "$script" ] && exit 0

cs()      { mcs -nologo -unsafe -debug- -langversion:latest -nowarn:1-9999 "$@" > /dev/null; }
library() { cs -target:library "$@"; }
ildll()   { ilasm -quiet -dll "-output:$1" "$2" > /dev/null; }
driver=-r:TestDriver.dll

ildll load-missing.dll "$SRC/load-missing.il"
library -out:t.dll -d:FOUND "$SRC/t-missing.cs"
cs $driver -r:load-missing.dll -r:t.dll -out:load-exceptions.exe "$SRC/load-exceptions.cs"
library -out:t.dll "$SRC/t-missing.cs"

cs -t:module -out:test-multi-netmodule-1-netmodule.netmodule "$SRC/test-multi-netmodule-1-netmodule.cs"
library -addmodule:test-multi-netmodule-1-netmodule.netmodule -out:test-multi-netmodule-2-dll1.dll "$SRC/test-multi-netmodule-2-dll1.cs"
library -addmodule:test-multi-netmodule-1-netmodule.netmodule -out:test-multi-netmodule-3-dll2.dll "$SRC/test-multi-netmodule-3-dll2.cs"
cs -r:test-multi-netmodule-2-dll1.dll -out:test-multi-netmodule-4-exe.exe "$SRC/test-multi-netmodule-4-exe.cs"

library -out:custom-attr-errors-lib.dll -d:WITH_MEMBERS "$SRC/custom-attr-errors-lib.cs"
cs $driver -r:custom-attr-errors-lib.dll -out:custom-attr-errors.exe "$SRC/custom-attr-errors.cs"
library -out:custom-attr-errors-lib.dll "$SRC/custom-attr-errors-lib.cs"

library -out:reflection-load-with-context-second-lib.dll "$SRC/reflection-load-with-context-second-lib.cs"
library -r:reflection-load-with-context-second-lib.dll -out:reflection-load-with-context-lib.dll "$SRC/reflection-load-with-context-lib.cs"

library -out:test-inline-call-stack-library.dll "$SRC/test-inline-call-stack-library.cs"
cs $driver -r:test-inline-call-stack-library.dll -out:test-inline-call-stack.exe "$SRC/test-inline-call-stack.cs"

mkdir -p assemblyresolve_deps
library -out:assemblyresolve_deps/TestBase.dll "$SRC/assemblyresolve_TestBase.cs"
library -r:assemblyresolve_deps/TestBase.dll -out:assemblyresolve_deps/Test.dll "$SRC/assemblyresolve_Test.cs"
library -r:assemblyresolve_deps/TestBase.dll -r:assemblyresolve_deps/Test.dll -out:assemblyresolve_asm.dll "$SRC/assemblyresolve_asm.cs"
library -out:assemblyresolve_deps/assemblyresolve_event5_label.dll "$SRC/assemblyresolve_event5_label.cs"
library -r:assemblyresolve_deps/assemblyresolve_event5_label.dll -out:assemblyresolve_event5_helper.dll "$SRC/assemblyresolve_event5_helper.cs"

for stem in bug-81673-interface:bug-81673 bug-36848-a:bug-36848; do
    interface=${stem%:*}; program=${stem#*:}
    library "-out:$interface.dll" "$SRC/$interface.cs"
    cs "-r:$interface.dll" "-out:$program.exe" "$SRC/$program.cs"
    library "-out:$interface.dll" -define:WITH_STOP "$SRC/$interface.cs"
done

library -out:bug-81691-a.dll "$SRC/bug-81691-a.cs"
library -r:bug-81691-a.dll -out:bug-81691-b.dll "$SRC/bug-81691-b.cs"
cs -r:bug-81691-b.dll -out:bug-81691.exe "$SRC/bug-81691.cs"
rm bug-81691-a.dll

ildll bug-81466-lib.dll "$SRC/bug-81466-lib.il"
ildll bug-324535-il.dll "$SRC/bug-324535-il.il"
cs -r:bug-324535-il.dll -out:bug-324535.exe "$SRC/bug-324535.cs"
ildll custom-modifiers-lib.dll "$SRC/custom-modifiers-lib.il"
cs -r:custom-modifiers-lib.dll -out:custom-modifiers.2.exe "$SRC/custom-modifiers.2.cs"
library -out:bug-382986-lib.dll "$SRC/bug-382986-lib.cs"
cs -r:bug-382986-lib.dll -out:bug-382986.exe "$SRC/bug-382986.cs"

ildll generic-unboxing.2.dll "$SRC/generic-unboxing.2.il"
ildll generic-boxing.2.dll "$SRC/generic-boxing.2.il"
cs -r:generic-unboxing.2.dll -out:generic-unbox.2.exe "$SRC/generic-unbox.2.cs"
cs -r:generic-unboxing.2.dll,generic-boxing.2.dll -out:generic-box.2.exe "$SRC/generic-box.2.cs"
ildll generic-delegate2-lib.2.dll "$SRC/generic-delegate2-lib.2.il"
cs -r:generic-delegate2-lib.2.dll -out:generic-delegate2.2.exe "$SRC/generic-delegate2.2.cs"

library -out:LeafAssembly.dll "$SRC/appdomain-marshalbyref-assemblyload-LeafAssembly.cs"
library -r:LeafAssembly.dll -out:MidAssembly.dll "$SRC/appdomain-marshalbyref-assemblyload-MidAssembly.cs"
mkdir -p appdomain-marshalbyref-assemblyload2
library -define:UNDEFINE_OTHER_METHOD -out:appdomain-marshalbyref-assemblyload2/LeafAssembly.dll "$SRC/appdomain-marshalbyref-assemblyload-LeafAssembly.cs"
cs -r:MidAssembly.dll -r:LeafAssembly.dll -out:appdomain-marshalbyref-assemblyload.exe "$SRC/appdomain-marshalbyref-assemblyload.cs"

mkdir -p assembly-load-dir1 assembly-load-dir2
for folder in assembly-load-dir1 assembly-load-dir2; do
    library "-out:$folder/Lib.dll" "$SRC/$folder/Lib.cs"
    library "-out:$folder/LibStrongName.dll" "-keyfile:$SRC/testing_gac/testkey.snk" "$SRC/$folder/LibStrongName.cs"
done
cp "$SRC"/assembly-*.exe.config .
library -out:assembly-load-dir1/LibSimpleName.dll "$SRC/assembly-load-dir1/LibSimpleName.cs"
# The name differs in case from what refers to it; the program is about that.
library -out:assembly-load-dir2/libsimplename.dll "$SRC/assembly-load-dir2/LibSimpleName.cs"
library -r:assembly-load-dir1/LibSimpleName.dll -out:assembly-dep-simplename.dll "$SRC/assembly-dep-simplename.cs"

cs -t:module -out:modules-m1.netmodule "$SRC/modules-m1.cs"
cs $driver -addmodule:modules-m1.netmodule -out:modules.exe "$SRC/modules.cs"

friend() { mcs -nologo -debug- -nowarn:1-9999 -out:"$1" "${@:2}" > /dev/null; }
for suffix in '' -2; do
    correct=internalsvisibleto-correctcase$suffix.dll wrong=internalsvisibleto-wrongcase$suffix.dll
    permissive=(); [ -n "$suffix" ] || permissive=(-d:PERMISSIVE)
    friend "$correct" -target:library -d:CORRECT_CASE "${permissive[@]}" "$SRC/internalsvisibleto-library.cs"
    friend "$wrong" -target:library -d:WRONG_CASE "${permissive[@]}" "$SRC/internalsvisibleto-library.cs"
    program=internalsvisibleto-runtimetest; [ -z "$suffix" ] || program=internalsvisibleto-compilertest
    friend "$program.exe" "-r:$correct" "-r:$wrong" "$SRC/$program.cs" || true
    friend "$correct" -target:library -d:CORRECT_CASE "$SRC/internalsvisibleto-library.cs"
    friend "$wrong" -target:library -d:WRONG_CASE "$SRC/internalsvisibleto-library.cs"
done

for name in null-blob-ref null-blob-null-blob-assm; do [ ! -e "$SRC/$name.il" ] || ildll "$name.dll" "$SRC/$name.il"; done
[ ! -e "$SRC/null-blob-tgt.cs" ] || library -out:null-blob-tgt.dll "$SRC/null-blob-tgt.cs"

touch "$stamp"
