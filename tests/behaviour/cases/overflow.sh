# How many frames there are is each runtime's own matter.
cs Ends
run Ends.exe overflow | sed -E 's/ \[0x[0-9a-f]+\] in <mvid>:0 ?//' | grep -v '^err|   at ' 
grep -c 'Ends.Deep' .stderr | sed 's/^[0-9]*[1-9]$\|^[0-9][0-9]*$/frames: &/; s/[1-9][0-9]*/some/'
