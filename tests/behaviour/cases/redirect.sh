sn -q -k key.snk
cp "$here/src/"*trong.cs .
mkdir one two gac
compile() { mcs -nologo -warn:0 "$@"; }
compile -target:library -out:one/Strong.dll Strong.cs
compile -target:library -d:TWO -out:two/Strong.dll Strong.cs
compile -r:one/Strong.dll UsesStrong.cs
token=$(sn -q -T one/Strong.dll | sed 's/.*: *//')
show() { sed "s/$token/TOKEN/g"; }
cp one/Strong.dll .
run UsesStrong.exe | show
cp two/Strong.dll .
run UsesStrong.exe | show
rm Strong.dll
for v in one:1.0.0.0 two:2.0.0.0; do
    mkdir -p "gac/lib/mono/gac/Strong/${v#*:}__$token"
    cp "${v%:*}/Strong.dll" "gac/lib/mono/gac/Strong/${v#*:}__$token/"
done
run UsesStrong.exe | show
MONO_GAC_PREFIX=$PWD/gac run UsesStrong.exe | show
cat > UsesStrong.exe.config <<END
<configuration><runtime><assemblyBinding xmlns="urn:schemas-microsoft-com:asm.v1"><dependentAssembly>
<assemblyIdentity name="Strong" publicKeyToken="$token" culture="neutral"/><bindingRedirect oldVersion="0.0.0.0-1.5.0.0" newVersion="2.0.0.0"/>
</dependentAssembly></assemblyBinding></runtime></configuration>
END
MONO_GAC_PREFIX=$PWD/gac run UsesStrong.exe | show
run UsesStrong.exe | show
