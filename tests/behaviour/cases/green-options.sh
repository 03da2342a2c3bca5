# by: vervet
# What is chosen about green threads: by options, variables and the configuration file, in that order; bad values; --report-deadlocks; pins in --stats.
cs Chosen
configure() { echo "<configuration><runtime><GreenThreads $1/></runtime></configuration>" > Chosen.exe.config; }
run Chosen.exe mode
run --green-threads all Chosen.exe mode
run --carriers=2 --green-stack=1m Chosen.exe stack
run --carriers=1 Chosen.exe stack
VERVET_GREEN_THREADS=all run Chosen.exe mode
VERVET_GREEN_THREADS=all run --green-threads=api Chosen.exe mode
configure 'mode="all" stack="1m"'
run Chosen.exe mode
run Chosen.exe stack
run --green-stack=64m Chosen.exe stack
VERVET_GREEN_THREADS=api run Chosen.exe mode
run --green-threads=some Chosen.exe mode
run --carriers=0 Chosen.exe mode
run --carriers two Chosen.exe mode
run --green-stack=12 Chosen.exe mode
VERVET_CARRIERS=-1 run Chosen.exe mode
VERVET_GREEN_STACK=big run Chosen.exe mode
configure 'carriers="0"'
run Chosen.exe mode
rm Chosen.exe.config
echo '$ pins'
"$VERVET" --stats --carriers=1 Chosen.exe pins 2>&1 | sed -n '/^green pins/,$p' | grep -v 'compiled\|^  at' | sed -E 's/ \[0x[0-9a-f]+\]//; s/[0-9]+$/N/; s/(callbacks|compilations) [0-9]+/\1 N/g' | grep 'pins\|native) Chosen\|InCallback ()' | sort -u
echo '$ deadlock'
"$VERVET" --report-deadlocks Chosen.exe deadlock > .stdout 2> .stderr &
pid=$!
for _ in $(seq 200); do grep -q ^Green .stderr && break; sleep 0.1; done
kill $pid; wait $pid 2> /dev/null
grep -v '^  at \|^$' .stderr | sed -E 's/#[0-9]+/#N/g; s/0x[0-9a-f]+/ADDRESS/' | normalise | sort
