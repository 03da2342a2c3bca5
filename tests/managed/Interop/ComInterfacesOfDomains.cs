// Wrappers of a domain's objects go when it is unloaded: GC handles that are made later stay their owners'. (Mono fails an assertion when it unloads such a domain.)
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.InteropServices;

public class Served { public int Number; }
public class Maker : MarshalByRefObject {
    public void Make(int n) { for (int i = 0; i < n; i++) Marshal.Release(Marshal.GetIUnknownForObject(new Served { Number = i })); }
}
static class ComInterfacesOfDomains {
    static void Main() {
        var domain = AppDomain.CreateDomain("child");
        ((Maker)domain.CreateInstanceAndUnwrap(Assembly.GetExecutingAssembly().FullName, "Maker")).Make(500);
        AppDomain.Unload(domain);
        GC.Collect();
        var handles = new List<GCHandle>();
        for (int i = 0; i < 20000; i++) handles.Add(GCHandle.Alloc("h" + i));
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 2000; i++) Marshal.Release(Marshal.GetIUnknownForObject(new Served { Number = i }));
            GC.Collect();
        }
        int bad = 0;
        for (int i = 0; i < handles.Count; i++) if (!handles[i].IsAllocated || !("h" + i).Equals(handles[i].Target)) bad++;
        Console.WriteLine("bad " + bad); // expect: bad 0
    }
}
