cs Input
printf 'one\ntwo\n\nthr\xc3\xa9e' | run Input.exe
run Input.exe
run Input.exe partial
run Input.exe stream
"$VERVET" Input.exe big | tail -n 1
"$VERVET" Input.exe big | head -n 1
SHOWN="closed stdin" note bash -c 'exec "$0" Input.exe <&-' "$VERVET"
SHOWN="closed stdout" note bash -c 'exec "$0" Input.exe partial >&-' "$VERVET" < /dev/null
SHOWN="closed stderr" note bash -c 'exec "$0" Input.exe partial 2>&-' "$VERVET" < /dev/null
