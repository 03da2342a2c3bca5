// A host that upgrades a plug-in while requests run. Each version lives in an application domain of its own, which is unloaded once nobody uses it any more:
// its code, its statics and its threads go with it.
//
//     vervet run samples/plugins/Plugins.cs
//
// The plug-in is compiled with mcs, three times, and a fourth time with an error that only running shows. The last line says whether a request was lost.
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;

namespace Plugins
{
    // What host and plug-in agree on. Plug-ins refer to the host's assembly for it, and the host calls them through proxies.
    public abstract class Plugin : MarshalByRefObject
    {
        public abstract string Answer(string request);
        public override object InitializeLifetimeService() { return null; }
    }

    // One version of the plug-in, in its domain.
    sealed class Version
    {
        readonly AppDomain domain;
        readonly Plugin plugin;
        int users = 1;
        readonly ManualResetEvent unused = new ManualResetEvent(false);

        public Version(string file)
        {
            // A copy, so that the file can be replaced while the domain uses it.
            string copy = Path.Combine(Path.GetDirectoryName(file), Guid.NewGuid().ToString("N") + ".dll");
            File.Copy(file, copy);
            var setup = new AppDomainSetup { ApplicationBase = Path.GetDirectoryName(typeof(Plugin).Assembly.Location) };
            domain = AppDomain.CreateDomain(Path.GetFileName(file), null, setup);
            try {
                plugin = (Plugin)domain.CreateInstanceFromAndUnwrap(copy, "Greeter");
                plugin.Answer("a trial");
            } catch {
                AppDomain.Unload(domain);
                throw;
            }
        }
        // False: the version is being unloaded.
        public bool Enter()
        {
            int now;
            do {
                now = users;
                if (now == 0) return false;
            } while (Interlocked.CompareExchange(ref users, now + 1, now) != now);
            return true;
        }
        public void Leave() { if (Interlocked.Decrement(ref users) == 0) unused.Set(); }
        public string Answer(string request) { return plugin.Answer(request); }
        // Waits for the requests that are under way.
        public void Unload()
        {
            Leave();
            unused.WaitOne();
            AppDomain.Unload(domain);
        }
    }

    sealed class Host
    {
        Version current;

        // The new version answers from now on, if it works; the old one goes.
        public string Upgrade(string file)
        {
            Version made;
            try {
                made = new Version(file);
            } catch (Exception e) {
                return "refused: " + e.Message;
            }
            var old = Interlocked.Exchange(ref current, made);
            if (old != null) old.Unload();
            return "upgraded";
        }
        public string Answer(string request)
        {
            while (true) {
                var version = Volatile.Read(ref current);
                if (!version.Enter()) continue;
                try {
                    return version.Answer(request);
                } finally {
                    version.Leave();
                }
            }
        }
    }

    static class Program
    {
        const string Source = @"
            public class Greeter : Plugins.Plugin {
                static int answered;
                public override string Answer(string request) {
                    System.Threading.Interlocked.Increment(ref answered);
                    return BODY;
                }
            }";

        static string Compile(string folder, string name, string body)
        {
            string source = Path.Combine(folder, name + ".cs"), file = Path.Combine(folder, name + ".dll");
            File.WriteAllText(source, Source.Replace("BODY", body));
            var arguments = string.Format("-nologo -target:library \"-r:{0}\" \"-out:{1}\" \"{2}\"", typeof(Plugin).Assembly.Location, file, source);
            using (var mcs = Process.Start(new ProcessStartInfo("mcs", arguments) { UseShellExecute = false })) mcs.WaitForExit();
            return file;
        }

        static int Main()
        {
            string folder = Path.Combine(Path.GetTempPath(), "plugins" + Process.GetCurrentProcess().Id);
            Directory.CreateDirectory(folder);
            try {
                return Run(folder);
            } finally {
                Directory.Delete(folder, true);
            }
        }

        static int Run(string folder)
        {
            var host = new Host();
            Console.WriteLine("one: " + host.Upgrade(Compile(folder, "One", "\"hello \" + request")));
            int answers = 0, lost = 0;
            bool ends = false;
            var clients = Enumerable.Range(0, 4).Select(n => new Thread(() => {
                while (!Volatile.Read(ref ends)) {
                    try {
                        if (!host.Answer("client " + n).EndsWith("client " + n)) Interlocked.Increment(ref lost);
                    } catch (Exception e) {
                        Console.WriteLine(e);
                        Interlocked.Increment(ref lost);
                    }
                    Interlocked.Increment(ref answers);
                }
            })).ToArray();
            foreach (var client in clients) client.Start();

            string two = Compile(folder, "Two", "\"welcome \" + answered + \" \" + request"), bad = Compile(folder, "Bad", "request.Substring(100)"), three = Compile(folder, "Three", "\"good day \" + request");
            Action<string, string> upgrade = (name, file) => {
                int before = Volatile.Read(ref answers);
                Console.WriteLine(name + ": " + host.Upgrade(file).Split('.')[0].Split('\n')[0]);
                while (Volatile.Read(ref answers) < before + 300) Thread.Sleep(1);
            };
            upgrade("two", two);
            Console.WriteLine(host.Answer("me").StartsWith("welcome") ? "the second answers" : "the second does not answer");
            upgrade("bad", bad);
            for (int i = 0; i < 3; i++) {
                upgrade("three", three);
                upgrade("two again", two);
            }
            upgrade("three", three);
            Console.WriteLine(host.Answer("me"));
            Volatile.Write(ref ends, true);
            foreach (var client in clients) client.Join();
            Console.WriteLine(lost == 0 ? "no request was lost" : lost + " of " + answers + " requests were lost");
            return lost == 0 ? 0 : 1;
        }
    }
}
