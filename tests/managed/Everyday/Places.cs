// Where the library and the drives are, as the class library asks the runtime for them.
using System;
using System.IO;
using System.Linq;
using System.Reflection;

static class Places
{
    static void Main()
    {
        var gac = (string)typeof(Environment).GetProperty("GacPath", BindingFlags.Static | BindingFlags.NonPublic).GetValue(null, null);
        Console.WriteLine(gac); // expect: /usr/lib/mono/gac
        Console.WriteLine(Directory.Exists(gac)); // expect: True
        Console.WriteLine(Environment.GetLogicalDrives().Contains("/")); // expect: True
        Console.WriteLine(DriveInfo.GetDrives().Length == Environment.GetLogicalDrives().Length); // expect: True
    }
}
