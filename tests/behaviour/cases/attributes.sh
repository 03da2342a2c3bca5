# by: vervet
# Rows of the CustomAttribute table whose constructor is none, or makes no instance: an exception (Mono crashes at some).
ilasm -quiet "$here/src/Attributes.il" -output:a.exe > /dev/null
cs Attributes
run Attributes.exe
