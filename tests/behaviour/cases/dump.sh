# by: vervet
# SIGQUIT prints what all threads wait for, green ones included, and who waits for whom. (Which thread gets which id differs from run to run.)
cs Waits
headers() {
    grep -v '^  at ' | normalise | sort | sed -E 's/#[0-9]+/#N/g; s/0x[0-9a-f]+/ADDRESS/; s/carrier [0-9]+/carrier N/; s/[0-9.]+ s more/T s more/
        s/descriptor [0-9]+/descriptor N/; s/"s[0-9]"/"s"/; /^$/d'
}
mode() { echo "\$ $*"; timeout 60 "$VERVET" Waits.exe "$@" 2>&1 | headers; }
mode Kinds
mode Deadlock
mode Many
echo "\$ the stack of a parked thread"
"$VERVET" Waits.exe Kinds 2>&1 | grep -A 30 '^"reads"' | grep -m 3 'Waits\|Socket:Receive_internal (int' | sed -E 's/ \[0x[0-9a-f]+\]//'
# The main thread waits, too, so another process asks.
"$VERVET" Waits.exe Nobody > .stdout 2> .stderr &
pid=$!
for _ in $(seq 200); do grep -q ready .stdout && break; sleep 0.05; done
sleep 0.3; kill -QUIT $pid; sleep 0.5; kill $pid; wait $pid 2> /dev/null
echo "\$ Nobody"
headers < .stderr
