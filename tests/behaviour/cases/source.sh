# by: vervet
# C# files are compiled and run; the second time comes from the cache.
export XDG_CACHE_HOME=$PWD/cache
cp "$here/src/Lib.cs" .
cat > hello.cs <<'END'
using System;
class Hello { static int Main(string[] a) { Console.WriteLine("hello {0}", string.Join("|", a)); if (a.Length > 2) throw new Exception("x"); return a.Length; } }
END
cat > user.cs <<'END'
class User { static void Main() { Lib.Method(1, "x"); System.Console.WriteLine(new Gone().x); } }
END
run run hello.cs
run run hello.cs -- a "b c"
run --debug run hello.cs -- 1 2 3
run run user.cs Lib.cs
mcs -nologo -target:library -out:Lib.dll Lib.cs
run run user.cs -r:Lib.dll
ls cache/vervet/*/ | grep -c exe$
echo 'class Wrong { static void Main() { x } }' > wrong.cs
run run wrong.cs
run run nope.cs
run run
run run hello.cs -r:nope.dll
