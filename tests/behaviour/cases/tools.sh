# by: vervet
# What looks into a run: numbers and addresses are left out.
cs Input
cs Uses -r:Lib.dll 2> /dev/null || { cs Lib -target:library -out:Lib.dll; cs Uses -r:Lib.dll; }
# (How many lines the histogram of stops has differs from run to run.)
count() { run "$@" | sed -E 's/[0-9.]+/N/g' | grep -vE '^err\| +N us +N$'; }
count --stats Input.exe partial
run --missing Uses.exe icall catch
run --verbose-jit Input.Main Input.exe partial | grep -c 'Input' | sed 's/^[1-9].*/listed/'
run --trace=Input Input.exe partial
"$VERVET" --perf-map Input.exe partial > /dev/null 2>&1 &
wait $!
grep -c 'Input' /tmp/perf-$!.map | sed 's/^[1-9].*/mapped/'
rm -f /tmp/perf-$!.map
run --version | sed -n '2p' | sed -E 's/[0-9]+(\.[0-9]+)+/N/'
run --version=number | sed -E 's/[0-9]+(\.[0-9]+)+/N/'
run --help | grep -c . | sed 's/^[1-9][0-9].*/help/'
# Where root's code goes, and where a user's.
(export VERVET_SYSTEM_CACHE_DIR=$PWD/code VERVET_CACHE_DIR=$PWD/code; run --aot Input.exe) | sed -E 's/[0-9]+ (methods|were|cannot|KiB)/N \1/g'
run
run --config
