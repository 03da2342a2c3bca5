# by: vervet
# A stack overflow ends the process with code 1 and says where; Mono says so in other words.
cs Ends
run Ends.exe overflow | sed -E 's/ \[0x[0-9a-f]+\]//; s/[0-9]+ more/N more/' | uniq
run Ends.exe overflow handler | sed -E 's/ \[0x[0-9a-f]+\]//; s/[0-9]+ more/N more/' | uniq
