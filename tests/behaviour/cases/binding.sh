cs Lib -target:library -out:Lib.dll
cs Uses -r:Lib.dll
mkdir private path Lib
mv Lib.dll private/
run Uses.exe method catch
cat > Uses.exe.config <<'END'
<configuration><runtime><assemblyBinding xmlns="urn:schemas-microsoft-com:asm.v1"><probing privatePath="nowhere;private"/></assemblyBinding></runtime></configuration>
END
run Uses.exe where
run Uses.exe method
rm Uses.exe.config
mv private/Lib.dll Lib/
run Uses.exe where
mv Lib/Lib.dll path/
MONO_PATH=$PWD/private:$PWD/path run Uses.exe where
cp path/Lib.dll Lib.exe
run Uses.exe where
rm Lib.exe
MONO_PATH= run Uses.exe where catch
