cs Input
printf 'one\ntwo\n\nthr\xc3\xa9e' | run Input.exe
run Input.exe
run Input.exe partial
run Input.exe stream
"$VERVET" Input.exe big | tail -n 1
"$VERVET" Input.exe big 2> .stderr | head -n 1
grep -m 1 Exception: .stderr | normalise
SHOWN="closed stdout" note bash -c 'exec "$0" Input.exe partial >&-' "$VERVET" < /dev/null
SHOWN="closed stderr" note bash -c 'exec "$0" Input.exe partial 2>&-' "$VERVET" < /dev/null
