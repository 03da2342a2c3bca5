# IL offsets, lines and columns, with the symbol files that there are: beside the assembly, or of another build.
cs Offsets -debug
run Offsets.exe
run --debug Offsets.exe
cs Embed -r:/usr/lib/mono/gac/Mono.Cecil/0.11.0.0__0738eb9f132ed756/Mono.Cecil.dll
cs Embed -debug -out:Symbols.exe -r:/usr/lib/mono/gac/Mono.Cecil/0.11.0.0__0738eb9f132ed756/Mono.Cecil.dll
mkdir beside few other
mono Embed.exe Offsets.exe beside/Offsets.exe portable
mono Embed.exe Offsets.exe few/Offsets.exe few
run --debug beside/Offsets.exe
run --debug few/Offsets.exe | grep -v Rethrow
cp Offsets.exe.mdb beside
cp Offsets.exe other
cp Symbols.exe.mdb other/Offsets.exe.mdb
run --debug other/Offsets.exe
run --debug beside/Offsets.exe | head -n 3
