# What is said of an exception whose text cannot be had, and of one that a handler of UnhandledException throws.
cs Nested
for w in text message null itself once zero thread handler; do
    run Nested.exe $w
done
cs Ends
run Ends.exe bad-text
run Ends.exe throw handler-throw
