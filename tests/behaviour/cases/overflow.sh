# by: vervet
# An overflow of the stack that nobody catches ends the process with code 1; Mono says so in other words where nobody listens.
cs Ends
run Ends.exe overflow | uniq
run Ends.exe overflow handler | uniq
