# by: vervet
# The stacks of green threads that wait for long: pages that were used give way, and what is in use stays.
cs Trimmed
VERVET_DEBUG_TRIM_MS=100 run Trimmed.exe
VERVET_DEBUG_TRIM_MS=100 run Trimmed.exe late
VERVET_DEBUG_TRIM_MS=100 run Trimmed.exe locked
cs PutAway
echo "\$ put away"
VERVET_DEBUG_TRIM_MS=100 timeout 100 "$VERVET" PutAway.exe 2> .stderr
grep -E '^[0-9]+ green threads|PutAway:(Inner|Outer)' .stderr | sed -E 's/ \[0x[0-9a-f]+\]//; s/ in .*//'
