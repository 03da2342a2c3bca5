# What is no program.
cs Place
run nope.exe
run ./sub/nope.exe
run /nope/nope.exe
echo "hello" > text.exe
run text.exe
: > empty.exe
run empty.exe
mkdir dir.exe
run dir.exe
head -c 700 Place.exe > short.exe
run short.exe
cp Place.exe damaged.exe
printf '\xff\xff\xff\xff' | dd of=damaged.exe bs=1 seek=$((0x208)) conv=notrunc status=none
run damaged.exe
cp /bin/true native.exe
run native.exe
cp Place.exe secret.exe
cs Lib -target:library -out:Lib.dll
run Lib.dll
