// tiers: all
// Short methods that write, or call, before they may throw: what was written stays, once, and the traces have all frames.
using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.CompilerServices;

class Store
{
    public int Count, Asked;
    readonly int[] items = new int[4];
    public virtual bool IsOpen { get { Asked++; return Count < 3; } }

    void EnsureOpen()
    {
        if (!IsOpen) throw new InvalidOperationException("closed at " + Count);
    }

    public void Add(int x)
    {
        EnsureOpen();
        items[Count++] = x;
    }

    public int Take()
    {
        if (--Count < 0) throw Empty(Count);
        return items[Count];
    }

    static Exception Empty(int count) { return new InvalidOperationException("empty: " + count); }

    public static int Tick(ref int counter, object limit)
    {
        counter++;
        if (counter > 5) throw new ArgumentOutOfRangeException("counter", counter, limit.ToString());
        return counter;
    }
}

sealed class Open : Store
{
    public override bool IsOpen { get { Asked += 10; return Count < 2; } }
}

class Remote : MarshalByRefObject
{
    public int Writes;
    public virtual bool CanWrite { get { return Writes < 2; } }
    void Ensure() { if (!CanWrite) throw new NotSupportedException(GetType().Name); }
    public void Write() { Ensure(); Writes++; }
}

static class Program
{
    static void Show(Exception e)
    {
        var frames = new StackTrace(e).GetFrames();
        Console.Write(e.GetType().Name + " " + e.Message.Replace('\n', ' ') + ":");
        foreach (var frame in frames) if (frame.GetMethod() != null) Console.Write(" " + frame.GetMethod().DeclaringType.Name + "." + frame.GetMethod().Name);
        Console.WriteLine();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill(Store s) { for (int i = 0; i < 10; i++) s.Add(i); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Drain(Store s) { int sum = 0; for (int i = 0; i < 10; i++) sum += s.Take(); return sum; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Count(ref int counter) { int sum = 0; for (int i = 0; i < 10; i++) sum += Store.Tick(ref counter, null); return sum; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WriteAll(Remote r) { for (int i = 0; i < 10; i++) r.Write(); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Streams(Stream s) { for (int i = 0; i < 10; i++) s.WriteByte((byte)i); }

    static void Run(bool show, Action what)
    {
        try { what(); if (show) Console.WriteLine("no exception"); }
        catch (Exception e) { if (show) Show(e); }
    }

    static void Main()
    {
        // Often enough that the methods are compiled again.
        for (int round = 0; round <= 4000; round++)
        {
            bool show = round == 0 || round == 4000;
            Store a = new Store(), b = new Open();
            Run(show, () => Fill(a));
            Run(show, () => Fill(b));
            if (show) Console.WriteLine(a.Count + " " + a.Asked + " " + b.Count + " " + b.Asked);
            Run(show, () => Drain(a));
            if (show) Console.WriteLine(a.Count);
            int counter = 0;
            Run(show, () => Count(ref counter));
            if (show) Console.WriteLine(counter);
            var remote = new Remote();
            Run(show, () => WriteAll(remote));
            if (show) Console.WriteLine(remote.Writes);
            Run(show, () => Streams(new MemoryStream(new byte[4], false)));
            if (show) Run(true, () => Streams(new MemoryStream()));
        }
    }
}
