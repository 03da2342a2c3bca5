// What a domain is told when it is made, and what it has of its own.
using System;
using System.IO;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

static class Setup
{
    static int own;
    [ThreadStatic] static int perThread;

    static void Show()
    {
        var d = AppDomain.CurrentDomain;
        var s = d.SetupInformation;
        Console.WriteLine(d.FriendlyName + ": " + Path.GetFileName(s.ApplicationBase.TrimEnd('/')) + " " + s.PrivateBinPath + " " + Path.GetFileName(s.ConfigurationFile) + " " + d.GetData("given"));
        Console.WriteLine("  " + (own++) + " " + (perThread++) + " " + Thread.GetDomainID() + " " + (Thread.GetDomain() == d) + " " + Thread.CurrentThread.ManagedThreadId);
        Console.WriteLine("  " + Task.Run(() => Thread.GetDomain().FriendlyName).Result + " " + (Assembly.GetEntryAssembly() == null ? "no entry" : "entry"));
        var t = new Thread(() => Console.WriteLine("  thread of " + Thread.GetDomain().FriendlyName));
        t.Start();
        t.Join();
        Console.WriteLine("  " + string.IsInterned("never seen before".Substring(0, 5)) + (object.ReferenceEquals(string.Empty, "")));
    }
    static void Initialize(string[] args) { Console.WriteLine("initialized " + string.Join(",", args) + " in " + AppDomain.CurrentDomain.FriendlyName); }
    static Assembly Resolve(object sender, ResolveEventArgs e)
    {
        Console.WriteLine("resolve " + e.Name + " in " + ((AppDomain)sender).FriendlyName);
        return e.Name == "nothing" ? typeof(Setup).Assembly : null;
    }
    static void Events()
    {
        AppDomain.CurrentDomain.AssemblyResolve += Resolve;
        AppDomain.CurrentDomain.AssemblyLoad += (s, e) => { if (e.LoadedAssembly.GetName().Name == "System.Xml.Linq") Console.WriteLine("load " + e.LoadedAssembly.GetName().Name + " in " + ((AppDomain)s).FriendlyName); };
        Console.WriteLine(Assembly.Load("nothing") == typeof(Setup).Assembly);
        Assembly.Load("System.Xml.Linq, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089");
        Console.WriteLine(Array.Exists(AppDomain.CurrentDomain.GetAssemblies(), a => a.GetName().Name == "System.Xml.Linq"));
        AppDomain.CurrentDomain.ProcessExit += delegate { Console.WriteLine("exit in " + AppDomain.CurrentDomain.FriendlyName); };
    }

    static void Main()
    {
        AppDomain.CurrentDomain.SetData("given", "root's");
        own = 10; perThread = 20;
        var plain = AppDomain.CreateDomain("plain");
        plain.DoCallBack(Show);
        plain.DoCallBack(Show);
        var setup = new AppDomainSetup { ApplicationBase = AppDomain.CurrentDomain.BaseDirectory, PrivateBinPath = "bin;more", ConfigurationFile = "other.config", AppDomainInitializer = Initialize, AppDomainInitializerArguments = new[] { "a", "b" } };
        var told = AppDomain.CreateDomain("told", null, setup);
        told.SetData("given", 7);
        told.DoCallBack(Show);
        told.DoCallBack(Events);
        Console.WriteLine(Array.Exists(AppDomain.CurrentDomain.GetAssemblies(), a => a.GetName().Name == "System.Xml.Linq"));
        Console.WriteLine(own + " " + perThread);
        AppDomain nested = null;
        plain.DoCallBack(() => { var n = AppDomain.CreateDomain("nested"); n.DoCallBack(() => Console.WriteLine("nested in " + AppDomain.CurrentDomain.FriendlyName + " " + AppDomain.CurrentDomain.Id)); AppDomain.Unload(n); });
        try { AppDomain.CreateDomain(null); } catch (ArgumentNullException) { Console.WriteLine("no name"); }
        AppDomain.Unload(plain);
    }
}
