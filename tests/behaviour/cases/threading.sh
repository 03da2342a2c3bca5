# by: vervet
# The assembly Vervet.Threading: found without a file on Vervet; on Mono missing, or doing what comes closest.
export XDG_CACHE_HOME=$PWD/cache
cat > ask.cs <<'END'
using System;
using Vervet.Threading;
class Ask
{
    static void Main()
    {
        var options = new GreenThreadOptions { Name = "worker", StackHint = 1 << 20, MaxStack = 1 << 24 };
        Console.WriteLine(GreenThread.Run(() => 42, options).Result);
        GreenThread.Run(() => GreenThread.Yield(), null).Wait();
        GreenThread.Name = "a";
        GreenThread.Name = "b";
        Console.WriteLine(GreenThread.Name);
        Console.WriteLine(Scheduler.Carriers + " " + Scheduler.GetStatistics().Started);
    }
}
END
VERVET_CARRIERS=5 run run ask.cs
run ref ref
ls ref
mcs -nologo -r:ref/Vervet.Threading.dll ask.cs
run --carriers=3 ask.exe
SHOWN="mono ask.exe" note /usr/bin/mono ask.exe | grep -v '^err|.*ERROR'
cp ref/Vervet.Threading.dll .
SHOWN="mono ask.exe" note /usr/bin/mono ask.exe
rm Vervet.Threading.dll
