# by: vervet
# A vector of vectors by its own constructor, one length per level (Mono stops at an assertion).
ilasm -quiet "$here/src/Jagged.il" -output:Jagged.exe > /dev/null
run Jagged.exe
