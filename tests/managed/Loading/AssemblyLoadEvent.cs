// mcs: -r:System.Xml.dll
using System;

static class AssemblyLoadEvent
{
    static int Main()
    {
        AppDomain.CurrentDomain.AssemblyLoad += (sender, e) => Console.WriteLine("loaded " + e.LoadedAssembly.GetName().Name);
        Use();  // expect: loaded System.Xml
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) => {
            Console.WriteLine("asked for " + e.Name);
            return typeof(AssemblyLoadEvent).Assembly;
        };
        Console.WriteLine(System.Reflection.Assembly.Load("nope").GetName().Name);  // expect: asked for nope
        return 0;  // expect: AssemblyLoadEvent
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    static void Use() { GC.KeepAlive(typeof(System.Xml.XmlDocument)); }
}
