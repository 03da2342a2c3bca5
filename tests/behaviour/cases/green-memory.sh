# by: vervet
# The stacks of green threads that wait for long: pages that were used give way, and what is in use stays.
cs Trimmed
VERVET_DEBUG_TRIM_MS=100 run Trimmed.exe
VERVET_DEBUG_TRIM_MS=100 run Trimmed.exe late
VERVET_DEBUG_TRIM_MS=100 run Trimmed.exe locked
