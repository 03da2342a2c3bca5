# by: vervet
# long
# Little address space (`ulimit -v`), sandboxes that deny system calls, and areas of the runtime's that are used up.
cs Fill
unset VERVET_DEBUG_PLAN
# A program that only allocates is to reach its limit soon.
export MONO_GC_PARAMS=max-heap-size=700m

# within GIB PROGRAM ...
within() {
    local gib=$1; shift
    SHOWN="($gib GiB) vervet $*" note bash -c 'ulimit -v "$1" && shift && exec "$@"' - $((gib * 1048576)) "$VERVET" "$@"
}
for gib in 1 2 3 4 5 7 8 13 16 33 64 100 150 200 257 299 300 330 400 511; do
    within $gib Fill.exe objects 1
done
within 2 Fill.exe objects 300
within 1 Fill.exe objects 1000
for gib in 1 4 300; do
    within $gib Fill.exe arrays
done
within 1 Fill.exe handles
within 1 Fill.exe threads
within 4 Fill.exe threads
# Too little for anything: a sentence (how much there is depends on the machine's libraries), no crash.
SHOWN="(100 MiB) vervet Fill.exe" note bash -c 'ulimit -v 102400; "$@" 2> said; code=$?
    sed -E "s/[0-9]+ MiB/N MiB/g" said; exit $code' - "$VERVET" Fill.exe code

# What is used up is an OutOfMemoryException, and a program that does not catch it ends with its trace.
filled() {
    local plan=$1; shift
    SHOWN="($plan) vervet $*" note env VERVET_DEBUG_PLAN="$plan" "$VERVET" "$@"
}
filled code=3m Fill.exe code
filled slots=40k Fill.exe code
filled vtables=1m Fill.exe classes
filled handle-bits=16 Fill.exe handles
# Where it happens varies, so only the reason is shown.
uncaught() {
    local plan=$1; shift
    SHOWN="($plan) vervet $*" note env VERVET_DEBUG_PLAN="$plan" bash -c '
        "$@" 2> said; code=$?
        grep -o -m1 "OutOfMemoryException: Out of memory" said; grep -c "Nested exception" said; exit $code' - "$VERVET" "$@"
}
uncaught code=3m Fill.exe code -1
uncaught vtables=1m Fill.exe classes -1

cc -O1 -Wall -Werror -o deny "$here/src/deny.c"
for calls in memfd_create membarrier memfd_create,membarrier; do
    SHOWN="(without $calls) vervet Fill.exe objects 100" note ./deny $calls "$VERVET" Fill.exe objects 100
done
