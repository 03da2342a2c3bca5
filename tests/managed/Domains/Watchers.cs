// A domain with FileSystemWatchers is unloaded: their threads wait in read(2), and end.
// expect: 5 domains unloaded
using System;
using System.Collections.Generic;
using System.IO;

public class Watchers : MarshalByRefObject {
    static readonly List<FileSystemWatcher> kept = new List<FileSystemWatcher> ();

    public void Begin (string directory) {
        for (int i = 0; i < 3; i++)
            kept.Add (new FileSystemWatcher (directory) { Filter = "nothing", EnableRaisingEvents = true });
    }
}

static class Program {
    static void Main () {
        for (int i = 0; i < 5; i++) {
            var domain = AppDomain.CreateDomain ("watching");
            var watchers = (Watchers) domain.CreateInstanceAndUnwrap (typeof (Watchers).Assembly.FullName, "Watchers");
            watchers.Begin (Path.GetTempPath ());
            System.Threading.Thread.Sleep (20);
            AppDomain.Unload (domain);
        }
        Console.WriteLine ("5 domains unloaded");
    }
}
