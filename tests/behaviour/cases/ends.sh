cs Ends
run Ends.exe return
run Ends.exe return 300
run Ends.exe return code
run Ends.exe return exit-code
run Ends.exe return exit-throw
run Ends.exe return exit-throw exit-last
run Ends.exe return exit-exit exit-last
run Ends.exe return code exit-code
for n in 0 7 300 -1; do run Ends.exe exit $n; done
run Ends.exe exit 3 exit-code
run Ends.exe exit 3 exit-throw
run Ends.exe exit 3 exit-exit
for h in "" handler handler-exit; do run Ends.exe throw $h; done
run Ends.exe throw handler exit-throw
run Ends.exe throw handler-exit exit-throw
# What is said about an exception in the handler is each runtime's own matter.
run Ends.exe throw handler-throw | grep -v 'inside UnhandledException\|^out| $'
# Reports beyond the first line are, too.
fast() { run Ends.exe "$@" | grep -a 'CLR:\|^exit'; }
fast fail-fast "the end"
fast fail-fast-null
fast fail-fast "the end" handler
# A second access to a class whose constructor failed.
run Ends.exe cctor-twice
