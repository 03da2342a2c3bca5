// A process is named by its program, not by the runtime, and its standard streams cannot seek, whatever they lead to.
using System;
using System.Diagnostics;
using System.IO;

static class OwnName
{
    static void Main()
    {
        Process own = Process.GetCurrentProcess();
        Console.WriteLine(own.ProcessName);
        Console.WriteLine(own);
        Console.WriteLine(own.MainModule.ModuleName);
        Console.WriteLine(Path.IsPathRooted(own.MainModule.FileName));
        Console.WriteLine(own.Modules[0].FileName == own.Modules[1].FileName);
        foreach (Process same in Process.GetProcessesByName(own.ProcessName)) Console.WriteLine(same.Id == own.Id);
        foreach (Stream stream in new[] { Console.OpenStandardInput(), Console.OpenStandardOutput(), Console.OpenStandardError() })
            Console.WriteLine(stream.CanSeek);
        string name = Path.GetTempFileName();
        using (Stream file = File.OpenWrite(name)) Console.WriteLine(file.CanSeek);
        File.Delete(name);
    }
}
