using System;
using System.IO;
using System.Reflection;
class Place {
    static void Main(string[] args) {
        foreach (string a in Environment.GetCommandLineArgs()) Console.WriteLine("arg {0}", a);
        foreach (string a in args) Console.WriteLine("main {0}", a);
        AppDomain d = AppDomain.CurrentDomain;
        Console.WriteLine("name {0}", d.FriendlyName);
        Console.WriteLine("base {0}", d.BaseDirectory);
        Console.WriteLine("base {0}", d.SetupInformation.ApplicationBase);
        Console.WriteLine("config {0}", d.SetupInformation.ConfigurationFile);
        Console.WriteLine("location {0}", Assembly.GetEntryAssembly().Location);
        Console.WriteLine("codebase {0}", Assembly.GetExecutingAssembly().CodeBase);
        Console.WriteLine("cwd {0}", Environment.CurrentDirectory);
        Console.WriteLine("id {0} {1} {2}", d.Id, d.IsDefaultAppDomain(), d);
        Console.WriteLine("{0}", d.RelativeSearchPath);
        Console.WriteLine("entry {0}", Assembly.GetEntryAssembly().EntryPoint);
        Console.WriteLine("{0} {1}", Environment.Version, typeof(object).Assembly.ImageRuntimeVersion);
        Console.WriteLine("{0}", Type.GetType("Mono.Runtime") != null);
    }
}
