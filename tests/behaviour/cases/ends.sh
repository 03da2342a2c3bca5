cs Ends
run Ends.exe return
run Ends.exe return 300
run Ends.exe return code
run Ends.exe return exit-code
run Ends.exe return exit-throw
run Ends.exe return exit-exit
for n in 0 7 300 -1; do run Ends.exe exit $n; done
run Ends.exe exit 3 exit-code
run Ends.exe exit 3 exit-throw
run Ends.exe exit 3 exit-exit
for h in "" handler handler-exit handler-throw; do run Ends.exe throw $h; done
run Ends.exe fail-fast "the end"
run Ends.exe fail-fast-null
run Ends.exe fail-fast "the end" handler
