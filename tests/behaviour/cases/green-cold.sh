# by: vervet
# Many green threads that begin with a method without code: one compiles it, and the others wait without their carriers.
cs Cold
"$VERVET" --stats --no-cache Cold.exe 2>&1 | awk '
    /^ran/
    /^green carriers/ { started = $4 + 0; print "carriers:", started <= 20 ? "few" : started }'
