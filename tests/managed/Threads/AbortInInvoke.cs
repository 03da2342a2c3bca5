// A thread is aborted inside a method that reflection called: a constructor's caller sees the abort wrapped, as mono has it, and it is
// raised again at the end of the catch.
using System;
using System.Reflection;
using System.Threading;

static class AbortInInvoke
{
    static readonly AutoResetEvent reached = new AutoResetEvent(false);

    class Sleeper
    {
        public Sleeper() { Sleep(); }
        public static void Sleep() { reached.Set(); Thread.Sleep(Timeout.Infinite); }
    }

    static void Try(string what, ThreadStart call)
    {
        string caught = "";
        var t = new Thread(() => {
            try {
                try { call(); }
                catch (TargetInvocationException e) { caught += e.InnerException.GetType().Name + " inside, "; }
                caught += "not here";
            } catch (ThreadAbortException e) {
                caught += e.GetType().Name;
                Thread.ResetAbort();
            }
        });
        t.Start();
        reached.WaitOne();
        t.Abort();
        t.Join();
        Console.WriteLine(what + ": " + caught);
    }

    static void Main()
    {
        var method = typeof(Sleeper).GetMethod("Sleep");
        var ctor = typeof(Sleeper).GetConstructor(Type.EmptyTypes);
        Action action = Sleeper.Sleep;
        Try("method", () => method.Invoke(null, null));                         // expect: method: ThreadAbortException
        Try("constructor", () => ctor.Invoke(null));                            // expect: constructor: ThreadAbortException inside, ThreadAbortException
        Try("Activator", () => Activator.CreateInstance(typeof(Sleeper)));      // expect: Activator: ThreadAbortException inside, ThreadAbortException
        Try("Activator<T>", () => Activator.CreateInstance<Sleeper>());         // expect: Activator<T>: ThreadAbortException inside, ThreadAbortException
        Try("delegate", () => action.DynamicInvoke());                          // expect: delegate: ThreadAbortException
    }
}
