# by: vervet
# Where Mono says something else, on purpose.
cs Ends
cs Uses -r:Lib.dll 2> /dev/null || { cs Lib -target:library -out:Lib.dll; cs Uses -r:Lib.dll; }
# A second access to a class whose constructor failed: Mono's trace ends in its own wrapper.
run Ends.exe cctor-twice
# An internal call nobody has: Mono prints a page about broken installations.
run Uses.exe icall
run Uses.exe icall catch
