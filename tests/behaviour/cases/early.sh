# by: vervet
# A method whose loop has initialised a class is compiled again, as soon as it is called some more times. (VERVET_HOT_CALLS: no other method is.)
export VERVET_BACKGROUND_COMPILER=0 VERVET_HOT_CALLS=1000000
cs Early
run Early.exe
"$VERVET" --cache=off --trace Early.exe 2>&1 | grep -ao '\[optimise\] .*'
