# by: vervet
# However a program is damaged, it runs, throws or is refused: codes 0, 1 and 2, nothing else.
cs Place
size=$(stat -c %s Place.exe)
RANDOM=7
for n in $(seq 40); do
    cp Place.exe m.exe
    if [ $((n % 5)) = 0 ]; then truncate -s $((RANDOM % size)) m.exe
    else
        for _ in 1 2 3 4; do
            printf "\\x$(printf %x $((RANDOM % 256)))" | dd of=m.exe bs=1 seek=$((512 + RANDOM % (size - 512))) conv=notrunc status=none
        done
    fi
    timeout -k 5 "$limit" "$VERVET" m.exe > .stdout 2> .stderr < /dev/null
    code=$?
    [ $code -le 2 ] || { echo "damage $n: exit $code"; head -n 3 .stderr | normalise; }
done
echo done
