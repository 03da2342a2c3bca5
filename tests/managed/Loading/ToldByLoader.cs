// AssemblyLoad is raised by the thread that loads, before the call returns, whatever other threads load meanwhile; an abort in a handler does not reach who loads.
using System;
using System.Collections.Concurrent;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading;

static class ToldByLoader
{
    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "told-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            const int Threads = 4, Each = 10;
            for (int i = 0; i <= Threads * Each; i++)
            {
                AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Library" + i), AssemblyBuilderAccess.Save, folder);
                assembly.DefineDynamicModule("Library" + i, "Library" + i + ".dll");
                assembly.Save("Library" + i + ".dll");
            }
            var told = new ConcurrentDictionary<string, int>();
            int wrong = 0;
            AssemblyLoadEventHandler handler = (sender, e) =>
            {
                Thread.Sleep(1);
                told[e.LoadedAssembly.GetName().Name] = Thread.CurrentThread.ManagedThreadId;
            };
            AppDomain.CurrentDomain.AssemblyLoad += handler;
            var threads = new Thread[Threads];
            var together = new Barrier(Threads);
            for (int t = 0; t < Threads; t++)
            {
                int first = t;
                threads[t] = new Thread(() =>
                {
                    for (int i = first; i < Threads * Each; i += Threads)
                    {
                        together.SignalAndWait();
                        string file = Path.Combine(folder, "Library" + i + ".dll");
                        if (i / Threads % 2 == 0) Assembly.LoadFrom(file); else Assembly.Load(File.ReadAllBytes(file));
                        int by;
                        if (!told.TryGetValue("Library" + i, out by) || by != Thread.CurrentThread.ManagedThreadId) Interlocked.Increment(ref wrong);
                    }
                });
                threads[t].Start();
            }
            foreach (Thread thread in threads) thread.Join();
            Console.WriteLine("not told, or by another: " + wrong); // expect: not told, or by another: 0
            AppDomain.CurrentDomain.AssemblyLoad -= handler;
            AppDomain.CurrentDomain.AssemblyLoad += (sender, e) => Thread.CurrentThread.Abort();
            var aborted = new Thread(() =>
            {
                Console.WriteLine(Assembly.LoadFrom(Path.Combine(folder, "Library" + Threads * Each + ".dll")).GetName().Name); // expect: Library40
            });
            aborted.Start();
            aborted.Join();
        }
        finally { Directory.Delete(folder, true); }
    }
}
