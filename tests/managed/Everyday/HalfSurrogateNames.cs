// Names with half a pair of surrogates have no UTF-8: files of that name do not exist and cannot be made, and no environment variable has one.
using System;
using System.IO;

static class HalfSurrogateNames
{
    static void Try(string what, Action action)
    {
        try
        {
            action();
            Console.WriteLine(what + " went on");
        }
        catch (Exception e)
        {
            Console.WriteLine(what + " " + e.GetType().Name + " " + e.Message.Split('\n')[0].Split('/')[0]);
        }
    }

    static void Main()
    {
        string root = Path.Combine(Path.GetTempPath(), "vervet-half-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(root);
        string good = Path.Combine(root, "good"), half = Path.Combine(root, "x\ud800y");
        File.WriteAllText(good, "1");
        Try("create", () => File.WriteAllText(half, "1")); // expect: create IOException Win32 IO returned ERROR_INVALID_NAME. Path: 
        Try("open", () => File.OpenRead(half)); // expect: open IOException Win32 IO returned ERROR_INVALID_NAME. Path: 
        Try("copy", () => File.Copy(good, half)); // expect: copy IOException Win32 IO returned ERROR_INVALID_NAME. Path: 
        Try("attributes", () => File.GetAttributes(half)); // expect: attributes FileNotFoundException Could not find file '
        Console.WriteLine(File.Exists(half) + " " + Directory.Exists(half)); // expect: False False
        Console.WriteLine(Directory.GetFileSystemEntries(root).Length); // expect: 1
        Directory.Delete(root, true);
        Try("value", () => Environment.SetEnvironmentVariable("VERVET_HALF", "a\ud800b")); // expect: value ArgumentException Illegal byte sequence encounted in the input.
        Try("end", () => Environment.SetEnvironmentVariable("VERVET_HALF", "a\ud800")); // expect: end ArgumentException Partial byte sequence encountered in the input.
        Try("name", () => Environment.SetEnvironmentVariable("VERVET\udc00HALF", "a")); // expect: name ArgumentException Illegal byte sequence encounted in the input.
        Console.WriteLine(Environment.GetEnvironmentVariable("VERVET_HALF") == null); // expect: True
    }
}
