// A domain that is unloaded: its threads end, its finalizers run, its events are raised, and what calls into it gets an exception.
using System;
using System.Threading;

class Plugin : MarshalByRefObject
{
    static int loads;
    public int Load() { return ++loads; }
    public void Block(ManualResetEvent entered)
    {
        try { entered.Set(); Thread.Sleep(Timeout.Infinite); }
        finally { Console.WriteLine("finally in " + AppDomain.CurrentDomain.FriendlyName); }
    }
    public void StartThread()
    {
        var started = new ManualResetEvent(false);
        var t = new Thread(() => { started.Set(); Thread.Sleep(Timeout.Infinite); });
        t.IsBackground = true;
        t.Start();
        started.WaitOne();
    }
    public void StartTimer() { timer = new Timer(delegate { ticks++; }, null, 1, 1); }
    static Timer timer;
    static int ticks;
    public int Ticks() { return ticks; }
    public void KeepFinalizable() { kept = new Finalizable(); }
    static Finalizable kept;
    public void UnloadYourself() { AppDomain.Unload(AppDomain.CurrentDomain); Console.WriteLine("not reached"); }
    public void ThrowOnUnload()
    {
        AppDomain.CurrentDomain.DomainUnload += delegate { Console.WriteLine("handler"); if (loads == 1) throw new Exception("refused"); };
    }
    class Finalizable
    {
        ~Finalizable() { Console.WriteLine("finalizer in " + AppDomain.CurrentDomain.FriendlyName + ", unloading: " + AppDomain.CurrentDomain.IsFinalizingForUnload()); }
    }
}

static class Unloading
{
    static Plugin In(AppDomain d) { return (Plugin)d.CreateInstanceAndUnwrap(typeof(Plugin).Assembly.FullName, "Plugin"); }

    static void Main()
    {
        for (int i = 0; i < 3; i++)
        {
            var d = AppDomain.CreateDomain("cycle " + i);
            var p = In(d);
            Console.WriteLine(d.FriendlyName + ": " + p.Load() + p.Load());
            AppDomain.Unload(d);
        }

        var threads = AppDomain.CreateDomain("threads");
        var plugin = In(threads);
        plugin.StartThread();
        plugin.StartTimer();
        while (plugin.Ticks() == 0) Thread.Sleep(1);
        plugin.KeepFinalizable();
        var entered = new ManualResetEvent(false);
        string outcome = null;
        var caller = new Thread(() =>
        {
            try { plugin.Block(entered); outcome = "returned"; }
            catch (Exception e) { outcome = e.GetType().Name; }
            outcome += ", in " + AppDomain.CurrentDomain.FriendlyName.Substring(0, 9);
        });
        caller.Start();
        entered.WaitOne();
        AppDomain.Unload(threads);
        caller.Join();
        Console.WriteLine(outcome);
        try { plugin.Load(); } catch (AppDomainUnloadedException) { Console.WriteLine("unloaded"); }

        var self = AppDomain.CreateDomain("self");
        try { In(self).UnloadYourself(); } catch (AppDomainUnloadedException) { Console.WriteLine("unloaded by itself"); }

        var refuses = AppDomain.CreateDomain("refuses");
        plugin = In(refuses);
        plugin.Load();
        plugin.ThrowOnUnload();
        try { AppDomain.Unload(refuses); } catch (Exception e) { Console.WriteLine(e.Message); }
        Console.WriteLine(plugin.Load());
        AppDomain.Unload(refuses);
        try { AppDomain.Unload(refuses); } catch (Exception e) { Console.WriteLine(e.GetType().Name); }
        try { AppDomain.Unload(AppDomain.CurrentDomain); } catch (CannotUnloadAppDomainException e) { Console.WriteLine(e.Message); }
    }
}
