// FileVersionInfo of a program of the library, of this one, and of what has none.
// mcs: -r:System.dll
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;

[assembly: AssemblyTitle("A title")]
[assembly: AssemblyCompany("A company")]
[assembly: AssemblyFileVersion("1.2.3.4")]

static class FileVersions
{
    static void Main()
    {
        var mcs = FileVersionInfo.GetVersionInfo(Path.Combine(Path.GetDirectoryName(typeof(object).Assembly.Location), "mcs.exe"));
        Console.WriteLine(mcs.InternalName + ", " + mcs.CompanyName + ", " + mcs.Language); // expect: mcs, Novell, Inc., Invariant Language (Invariant Country)
        Console.WriteLine(mcs.FileVersion == mcs.FileMajorPart + "." + mcs.FileMinorPart + "." + mcs.FileBuildPart + "." + mcs.FilePrivatePart); // expect: True
        var own = FileVersionInfo.GetVersionInfo(Assembly.GetExecutingAssembly().Location);
        Console.WriteLine(own.FileVersion + " " + own.FileDescription + " " + own.IsDebug); // expect: 1.2.3.4 A title False
        Console.WriteLine(own.FilePrivatePart + " [" + own.SpecialBuild + "]"); // expect: 4 []
        string text = Path.GetTempFileName();
        var none = FileVersionInfo.GetVersionInfo(text);
        Console.WriteLine((none.FileName == text) + " " + (none.FileVersion == null) + " " + (none.Language == null)); // expect: True True True
        File.Delete(text);
        try { FileVersionInfo.GetVersionInfo(text); } catch (FileNotFoundException e) { Console.WriteLine(e.Message == text); } // expect: True
    }
}
