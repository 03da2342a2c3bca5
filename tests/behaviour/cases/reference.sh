# by: vervet
# long
# Programs that use members of Vervet's own: the reference assembly, `vervet run`, and what Mono says.
export XDG_CACHE_HOME=$PWD/cache
cat > green.cs <<'EOF'
using System;
using System.Threading;
class Green
{
    static void Main(string[] a)
    {
        Console.WriteLine("begin");
        Use();
    }
    static void Use() { Console.WriteLine(Thread.IsGreenThread); }
}
EOF
mcs -nologo green.cs 2>&1 | grep -o 'error CS0117.*'
run ref ref
ls ref
mcs -nologo -lib:ref green.cs && run green.exe
mcs -nologo -nostdlib -r:ref/mscorlib.dll -out:explicit.exe green.cs && run explicit.exe
SHOWN="mono green.exe" note /usr/bin/mono green.exe
rm -f green.exe
run run green.cs
run run green.cs
ls -d cache/vervet/ref-* | wc -l
export VERVET_DEBUG_GRAFTS=
run explicit.exe
run run green.cs
run ref none
export VERVET_DEBUG_GRAFTS=$PWD/nope.dll
run explicit.exe
run run green.cs
echo 'no image' > nope.dll
run explicit.exe
cat > bad.cs <<'EOF'
namespace Vervet { class GraftOntoAttribute : System.Attribute { public GraftOntoAttribute(string a, string b) { } } }
[Vervet.GraftOnto("mscorlib", "System.Math")] static class Bad { public static int Abs(int x) { return x; } }
EOF
mcs -nologo -target:library bad.cs
VERVET_DEBUG_GRAFTS=$PWD/bad.dll run explicit.exe
unset VERVET_DEBUG_GRAFTS
run ref
run ref a b
run ref explicit.exe
