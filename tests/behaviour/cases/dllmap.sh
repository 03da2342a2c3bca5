cs Native
run Native.exe map
cat > Native.exe.config <<'END'
<configuration><dllmap dll="mapped" os="!linux" target="nothing"/><dllmap dll="mapped" os="linux,osx"><dllentry dll="libc.so.6" name="renamed" target="getpid"/></dllmap>
<dllmap dll="i:I-MAPPED" target="libc.so.6"/></configuration>
END
run Native.exe map
mv Native.exe.config other
run --config "$PWD/other" Native.exe map
