# What a program refers to and does not find. Of a missing type, Mono also says which token asked.
cs Lib -target:library -out:Lib.dll
cs Uses -r:Lib.dll
plain() {
    sed -E -e "s/Could not resolve type with token [0-9a-f]* from typeref \(expected class '([^']*)' in assembly '([^']*)'\)/Could not load type '\1' from assembly '\2'./" \
        -e "s/Could not load type of field '[^']*' \(0\) due to: //" -e 's/ assembly:Lib, .*//; s/ assembly:WORK.*//'
}
run Uses.exe method
run Uses.exe where
for w in lib function; do run Uses.exe $w; run Uses.exe $w catch; done
rm Lib.dll
run Uses.exe method
for w in method field virtual type base interface; do run Uses.exe $w catch; done
cs Lib -target:library -out:Lib.dll -d:OLD
for w in method field virtual type base interface struct; do run Uses.exe $w | plain; run Uses.exe $w catch | plain; done
