# by: vervet
# Symbols within the assembly. Mono does not read what this writer makes.
cs Offsets -debug
cs Embed -r:/usr/lib/mono/gac/Mono.Cecil/0.11.0.0__0738eb9f132ed756/Mono.Cecil.dll
mkdir within
mono Embed.exe Offsets.exe within/Offsets.exe embedded
rm Offsets.exe.mdb
ls within
run --debug within/Offsets.exe
