# by: vervet
# SIGQUIT prints all managed stacks and the program goes on; other signals have their default action.
cs Spin
# mode, signals…
signal() {
    local mode=$1 pid code; shift
    : > .stdout
    env --default-signal=INT "$VERVET" Spin.exe $mode < <(sleep 10) > .stdout 2> .stderr &
    pid=$!
    for _ in $(seq 200); do grep -q ready .stdout && break; sleep 0.05; done
    sleep 0.2
    for s; do kill -$s $pid; sleep 0.3; done
    { wait $pid; code=$?; } 2> /dev/null
    echo "\$ $mode $*"
    normalise .stdout .stderr | sed -E 's/ \[(0x[0-9a-f]+|\?)\]//; s/[0-9.]+ s more/T s more/'
    echo "exit $code"
}
signal spin QUIT QUIT TERM
signal sleep QUIT TERM
signal read QUIT TERM
signal read INT
