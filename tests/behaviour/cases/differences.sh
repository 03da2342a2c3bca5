# by: vervet
# Where Mono says something else, on purpose.
cs Uses -r:Lib.dll 2> /dev/null || { cs Lib -target:library -out:Lib.dll; cs Uses -r:Lib.dll; }
# An internal call nobody has: Mono prints a page about broken installations.
run Uses.exe icall
run Uses.exe icall catch
