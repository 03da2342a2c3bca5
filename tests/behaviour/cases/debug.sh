# With the line table that mcs -debug writes.
cs Ends -debug
for w in wrap again null lambda linq cctor2 dispatch; do run --debug Ends.exe $w; done
run Ends.exe null
MONO_ENV_OPTIONS=--debug run Ends.exe null
