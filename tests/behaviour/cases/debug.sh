# Files and lines, from the line table that mcs -debug writes.
cs Ends -debug
plain() { sed -E 's/ \[0x[0-9a-f]+\]//' | grep -v __icall_wrapper_; }
for w in wrap again null lambda linq cctor2 dispatch; do run --debug Ends.exe $w | plain; done
run Ends.exe null | plain
MONO_ENV_OPTIONS=--debug run Ends.exe null | plain
rm Ends.exe.mdb
run --debug Ends.exe null | plain
