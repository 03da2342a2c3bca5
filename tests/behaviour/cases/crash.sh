# by: vervet
# A fault in native code is reported with the managed stack and ends with code 70; abort() stays an abort.
cs Native
plain() { sed -E -e 's/0x[0-9a-f]+/N/g' -e '/native stack:/,/^exit/{/native stack:|^exit/!d}' -e '/^err\|   state/d' ; }
run Native.exe raise 11 | plain
run Native.exe raise 7 | plain
run Native.exe memset | plain
run Native.exe abort | plain
run Native.exe raise 15
run Native.exe raise 13
