using System;
using System.Threading;
class Finalized { ~Finalized() { Legacy.Ran.Set(); throw new Exception("finalizer"); } }
class Legacy {
    internal static readonly ManualResetEvent Ran = new ManualResetEvent(false);
    static void Drop() { new Finalized(); }
    // Each prints that the program went on, unless the exception ended it.
    static void Main(string[] args) {
        AppDomain.CurrentDomain.UnhandledException += (s, e) => Console.WriteLine("handler {0}", e.IsTerminating);
        switch (args[0]) {
            case "thread":
                var thread = new Thread(() => { throw new Exception("thread"); });
                thread.Start();
                thread.Join();
                break;
            case "pool":
                ThreadPool.QueueUserWorkItem(o => { ThreadPool.QueueUserWorkItem(p => Ran.Set()); throw new Exception("pool"); });
                Ran.WaitOne();
                break;
            case "finalizer":
                var dropping = new Thread(Drop);
                dropping.Start();
                dropping.Join();
                GC.Collect();
                Ran.WaitOne();
                GC.WaitForPendingFinalizers();
                break;
            case "main":
                throw new Exception("main");
        }
        Console.WriteLine("went on");
    }
}
