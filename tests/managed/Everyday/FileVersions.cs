// FileVersionInfo of a program of the library, of this one, and of what has none.
// mcs: -r:System.dll -r:System.Core.dll
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

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
        OfAnotherPage(own.FileName);
    }

    // A table of texts in another code page than Unicode is not read, although the resource names it.
    static void OfAnotherPage(string own)
    {
        string copy = Path.ChangeExtension(Path.GetTempFileName(), ".exe");
        string bytes = Encoding.GetEncoding(28591).GetString(File.ReadAllBytes(own));
        bytes = bytes.Replace(Wide("007f04b0"), Wide("007f04e4")).Replace("\x7f\0\xb0\x04", "\x7f\0\xe4\x04");
        File.WriteAllBytes(copy, Encoding.GetEncoding(28591).GetBytes(bytes));
        var info = FileVersionInfo.GetVersionInfo(copy);
        Console.WriteLine("[" + info.FileVersion + "] " + info.FilePrivatePart + " " + info.Language); // expect: [] 4 Invariant Language (Invariant Country)
        File.Delete(copy);
    }
    static string Wide(string text)
    {
        return string.Concat(text.Select(c => c + "\0"));
    }
}
