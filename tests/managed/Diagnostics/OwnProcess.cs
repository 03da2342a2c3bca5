// mcs: -r:System.dll
// The modules of the process itself: mapped files and assemblies, each with what is known of its version.
using System;
using System.Diagnostics;
using System.Linq;

static class OwnProcess
{
    static void Main()
    {
        var modules = Process.GetCurrentProcess().Modules.Cast<ProcessModule>().ToList();
        Console.WriteLine(modules.All(m => m.FileVersionInfo != null && m.FileVersionInfo.FileName == m.FileName)); // expect: True
        Console.WriteLine(modules.All(m => m.ModuleName != null)); // expect: True
        Console.WriteLine(modules.Any(m => m.FileName.Contains("/"))); // expect: True
        foreach (var a in AppDomain.CurrentDomain.GetAssemblies()) {
            var name = a.GetName();
            var found = modules.Where(m => m.FileName == "[In Memory] " + name.Name).ToList();
            var v = found[0].FileVersionInfo;
            bool same = v.FileMajorPart == name.Version.Major && v.FileMinorPart == name.Version.Minor && v.FileBuildPart == name.Version.Build;
            if (found.Count != 1 || found[0].ModuleName != name.Name || !same) Console.WriteLine(name);
        }
        Console.WriteLine("done"); // expect: done
    }
}
