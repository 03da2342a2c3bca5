# by: vervet
# Instantiations that break a constraint, which no compiler writes (Mono checks those of types, CoreCLR those of methods too).
ilasm -quiet "$here/src/Constraints.il" -output:Constraints.exe > /dev/null
run Constraints.exe
