cs Ends
for w in abort abort-finally abort-reset abort-general reset-idle; do run Ends.exe $w; done
run Ends.exe abort handler
