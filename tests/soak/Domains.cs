// What a host of plug-ins does with application domains, all at once, for the given seconds: `Domains SECONDS SEED`.
//
// Threads make domains, call and are called, throw across, start threads, timers, pool items and listeners there that never end, and unload; others call into a domain that
// is unloaded meanwhile; collections run beside them. Each checks what it gets. Standard output has a line `count NAME N` for each kind of work, then `ok`. A wrong
// value ends the process with exit code 1; work that stands still for four minutes with 3, after the stacks of all threads. So does memory that goes on growing:
// what is resident at the end of the second half may be half as much again as at its beginning, and 64 MB.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Runtime.Remoting.Messaging;
using System.Threading;

[Serializable]
public sealed class Item
{
    public int Number;
    public string Text;
    public Item Next;
    public static Item List(int n)
    {
        Item list = null;
        for (int i = 0; i < n; i++) list = new Item { Number = i, Text = "item " + i, Next = list };
        return list;
    }
    public static int Check(Item list)
    {
        int count = 0;
        for (; list != null; list = list.Next, count++)
            if (list.Text != "item " + list.Number) return -1;
        return count;
    }
}

[Serializable]
public sealed class Refused : Exception
{
    public readonly int Code;
    public Refused(int code) : base("refused " + code) { Code = code; }
    Refused(System.Runtime.Serialization.SerializationInfo info, System.Runtime.Serialization.StreamingContext context) : base(info, context) { Code = info.GetInt32("code"); }
    public override void GetObjectData(System.Runtime.Serialization.SerializationInfo info, System.Runtime.Serialization.StreamingContext context)
    {
        base.GetObjectData(info, context);
        info.AddValue("code", Code);
    }
}

[Serializable]
public sealed class Tag : ILogicalThreadAffinative { public int Value; }

// Of the host's domain.
public sealed class Host : MarshalByRefObject
{
    int calls;
    public int Calls { get { return calls; } }
    public int Count(int n) { Interlocked.Increment(ref calls); return n + 1; }
    public string Name(string who) { return "host of " + who; }
    public override object InitializeLifetimeService() { return null; }
}

// Of a further domain.
public sealed class Plugin : MarshalByRefObject
{
    static readonly List<object> kept = new List<object>();
    static int made, ended;
    [ThreadStatic] static int visits;

    sealed class Finalized
    {
        readonly byte[] data = new byte[100];
        public Finalized() { Interlocked.Increment(ref made); data[99] = 7; }
        ~Finalized() { if (data[99] != 7) Environment.FailFast("a finalizer saw another object"); Interlocked.Increment(ref ended); }
    }

    public override object InitializeLifetimeService() { return null; }
    public int Add(int a, int b) { visits++; return a + b; }
    public string Echo(string text) { return text + text.Length; }
    public ArrayList Grow(ArrayList list) { list.Add(list.Count); return list; }
    public Item Extend(Item list) { return new Item { Number = 99, Text = "item 99", Next = list }; }
    public void Swap(ref int a, ref string b, out Item c) { a = -a; b = b + b; c = Item.List(a & 7); }
    public int Throw(int code) { throw new Refused(code); }
    public int Tagged() { var tag = (Tag)CallContext.GetData("tag"); return tag == null ? -1 : tag.Value; }
    public int Back(Host host, int depth)
    {
        int n = host.Count(depth);
        return host.Name("p") == "host of p" ? n : -1;
    }
    public int Fill(int count)
    {
        for (int i = 0; i < count; i++) { kept.Add(new Finalized()); if (kept.Count > 200) kept.Clear(); }
        return made - ended;
    }
    // What is left behind when the domain goes.
    public void Leave(int what)
    {
        switch (what % 6) {
            case 0: Begin(() => { for (long n = 0; ; n++) if ((n & 0xFFFFF) == 0) Thread.Sleep(0); }); break;
            case 1: Begin(() => Thread.Sleep(Timeout.Infinite)); break;
            case 2: kept.Add(new Timer(_ => Fill(10), null, 1, 1)); break;
            case 3: for (int i = 0; i < 20; i++) ThreadPool.QueueUserWorkItem(_ => { Fill(5); Thread.Sleep(1); }); break;
            case 4: {
                var listener = new TcpListener(IPAddress.Loopback, 0);
                listener.Start();
                listener.BeginAcceptSocket(_ => { }, null);
                kept.Add(listener);
                break;
            }
            default: {
                var gate = new object();
                Begin(() => { lock (gate) Monitor.Wait(gate); });
                Begin(() => { try { Thread.Sleep(Timeout.Infinite); } finally { Fill(3); } });
                break;
            }
        }
    }
    static void Begin(ThreadStart work) { new Thread(work) { IsBackground = true }.Start(); }
}

static class Domains
{
    static volatile bool stop;
    static readonly long[] counts = new long[5];
    static readonly string[] names = { "lives", "calls", "refused", "shared-calls", "shared-unloads" };
    static long[] progress;

    [DllImport("libc")] static extern void _exit(int code);
    [DllImport("libc")] static extern int getpid();
    [DllImport("libc")] static extern int kill(int pid, int signal);

    static void Fail(string what)
    {
        Console.Error.WriteLine("soak: wrong: " + what);
        Console.Error.Flush();
        _exit(1);
    }
    static void Expect(bool right, string what) { if (!right) Fail(what); }
    static void Count(int which, long n = 1) { Interlocked.Add(ref counts[which], n); }

    static Plugin Make(string name, out AppDomain domain)
    {
        domain = AppDomain.CreateDomain(name);
        return (Plugin)domain.CreateInstanceAndUnwrap(typeof(Plugin).Assembly.FullName, "Plugin");
    }

    static void Calls(Plugin plugin, Host host, Random random)
    {
        int n = random.Next(1000);
        Expect(plugin.Add(n, 1) == n + 1, "Add");
        Expect(plugin.Echo("text") == "text4", "Echo");
        var list = new ArrayList { 1, "two", 3.0 };
        Expect(plugin.Grow(list).Count == 4 && list.Count == 3, "Grow");
        Expect(Item.Check(plugin.Extend(Item.List(n % 30))) == n % 30 + 1, "Extend");
        int a = -(n % 8); string b = "b"; Item c;
        plugin.Swap(ref a, ref b, out c);
        Expect(a == n % 8 && b == "bb" && Item.Check(c) == (a & 7), "Swap");
        Expect(plugin.Back(host, n) == n + 1, "Back");
        try { plugin.Throw(n); Fail("Throw returned"); }
        catch (Refused e) { Expect(e.Code == n, "Throw"); }
        if (n % 4 == 0) {
            CallContext.SetData("tag", new Tag { Value = n });
            Expect(plugin.Tagged() == n, "Tagged");
            CallContext.FreeNamedDataSlot("tag");
        }
        Expect(plugin.Fill(n % 50) >= 0, "Fill");
        Count(1, 9);
    }

    // A domain's whole life.
    static void Life(int seed, int round)
    {
        var random = new Random(seed + round);
        AppDomain domain;
        var plugin = Make("life", out domain);
        var host = new Host();
        int rounds = random.Next(20);
        for (int i = 0; i < rounds; i++) Calls(plugin, host, random);
        Expect(host.Calls == rounds, "the host's calls");
        for (int i = random.Next(4); i > 0; i--) plugin.Leave(random.Next(60));
        if (random.Next(3) == 0) Thread.Sleep(random.Next(5));
        AppDomain.Unload(domain);
        try { plugin.Add(1, 2); Fail("a call into an unloaded domain returned"); }
        catch (AppDomainUnloadedException) { Count(2); }
        Count(0);
    }

    // A domain that others call while it is unloaded.
    static Plugin shared;
    static void Share(int seed, int round)
    {
        var random = new Random(seed + round);
        AppDomain domain;
        shared = Make("shared", out domain);
        Thread.Sleep(random.Next(30));
        if (random.Next(2) == 0) shared.Leave(random.Next(60));
        AppDomain.Unload(domain);
        Count(4);
    }
    static void UseShared(int seed, int round)
    {
        var plugin = shared;
        if (plugin == null) { Thread.Sleep(1); return; }
        try {
            for (int i = 0; i < 20; i++) {
                Expect(plugin.Add(i, round) == i + round, "a shared Add");
                Expect(plugin.Echo("s") == "s1", "a shared Echo");
                Expect(Item.Check(plugin.Extend(Item.List(3))) == 4, "a shared Extend");
                Count(3, 3);
            }
        }
        catch (AppDomainUnloadedException) { Count(2); }
    }

    static void Collect(int seed, int round)
    {
        Thread.Sleep(new Random(seed + round).Next(20));
        GC.Collect(round % 3);
        if (round % 16 == 0) GC.WaitForPendingFinalizers();
    }

    static long Resident()
    {
        foreach (var line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith("VmRSS:")) return long.Parse(line.Substring(6).Replace("kB", "").Trim());
        return 0;
    }

    static int Main(string[] args)
    {
        int seconds = int.Parse(args[0]), seed = args.Length > 1 ? int.Parse(args[1]) : 1;
        var work = new Action<int, int>[] { Life, Life, Life, Share, UseShared, UseShared, Collect };
        progress = new long[work.Length];
        var threads = new Thread[work.Length];
        for (int i = 0; i < work.Length; i++) {
            int own = i;
            threads[i] = new Thread(() => {
                try { for (int n = 0; !stop; n++) { work[own](seed + own * 100000, n); progress[own]++; } }
                catch (Exception e) { Fail(work[own].Method.Name + ": " + e); }
            }) { IsBackground = true };
            threads[i].Start();
        }
        var end = DateTime.UtcNow.AddSeconds(seconds);
        var half = DateTime.UtcNow.AddSeconds(seconds / 2);
        var before = new long[work.Length];
        var since = DateTime.UtcNow;
        long atHalf = 0;
        while (DateTime.UtcNow < end) {
            Thread.Sleep(200);
            if (atHalf == 0 && DateTime.UtcNow > half) atHalf = Resident();
            for (int i = 0; i < work.Length; i++)
                if (progress[i] != before[i]) { before[i] = progress[i]; since = DateTime.UtcNow; }
            if ((DateTime.UtcNow - since).TotalSeconds > 240) { Console.Error.WriteLine("soak: nothing goes on"); Stand(); }
        }
        stop = true;
        foreach (var thread in threads) if (!thread.Join(240000)) { Console.Error.WriteLine("soak: a thread does not end"); Stand(); }
        long atEnd = Resident();
        for (int i = 0; i < counts.Length; i++) Console.WriteLine("count {0} {1}", names[i], counts[i]);
        Console.WriteLine("count half-kB {0}", atHalf);
        Console.WriteLine("count end-kB {0}", atEnd);
        if (seconds >= 60 && atEnd > atHalf + atHalf / 2 + 65536) { Console.Error.WriteLine("soak: memory grows: {0} kB, {1} kB", atHalf, atEnd); return 3; }
        Console.WriteLine("ok");
        return 0;
    }
    static void Stand() { kill(getpid(), 3); Thread.Sleep(3000); _exit(3); }
}
