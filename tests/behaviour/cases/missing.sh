# What a program refers to and does not find.
cs Lib -target:library -out:Lib.dll
cs Uses -r:Lib.dll
run Uses.exe method
run Uses.exe where
for w in lib function; do run Uses.exe $w; run Uses.exe $w catch; done
cs Unstartable -r:Lib.dll
rm Lib.dll
run Uses.exe method
for w in method field virtual type base interface; do run Uses.exe $w catch; done
cs Lib -target:library -out:Lib.dll -d:OLD
for w in method field virtual type base interface struct; do run Uses.exe $w; run Uses.exe $w catch; done
run Unstartable.exe
