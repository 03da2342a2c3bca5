// Uses something up: `Fill WHAT [COUNT]`. Prints what came of it; exit code 3 if an OutOfMemoryException was caught.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;

class Node { public Node Next; public long A, B; }

// Each instantiation has a VTable, slots and code of its own.
struct Many<T, U, V, W>
{
    T t; U u; V v; W w;
    public static int Count(int n)
    {
        var x = new Many<T, U, V, W>();
        int sum = 0;
        for (int i = 0; i < n; i++) sum += x.Equals(null) ? 1 : i;
        return sum;
    }
}

class Boxed<T, U, V, W> { public T t; public U u; public V v; public W w; public override string ToString() { return "boxed"; } }

static class Program
{
    static readonly Type[] types = {
        typeof(bool), typeof(byte), typeof(sbyte), typeof(short), typeof(ushort), typeof(char), typeof(int), typeof(uint),
        typeof(long), typeof(ulong), typeof(float), typeof(double), typeof(IntPtr), typeof(UIntPtr), typeof(decimal), typeof(Guid),
    };

    static IEnumerable<Type[]> Arguments()
    {
        foreach (var a in types) foreach (var b in types) foreach (var c in types) foreach (var d in types)
            yield return new[] { a, b, c, d };
    }

    static int Code()
    {
        int n = 0;
        foreach (var a in Arguments()) {
            typeof(Many<,,,>).MakeGenericType(a).GetMethod("Count").Invoke(null, new object[] { 3 });
            n++;
        }
        return n;
    }

    static int Classes()
    {
        int n = 0;
        foreach (var a in Arguments()) {
            Activator.CreateInstance(typeof(Boxed<,,,>).MakeGenericType(a));
            n++;
        }
        return n;
    }

    static int Objects(int mebibytes)
    {
        Node head = null;
        int n = mebibytes * (1 << 20) / 32;
        for (int i = 0; i < n; i++) head = new Node { Next = head, A = i, B = i };
        int seen = 0;
        for (var x = head; x != null; x = x.Next) if (x.A == n - 1 - seen) seen++;
        return seen == n ? mebibytes : -1;
    }

    static int Arrays()
    {
        var all = new List<byte[]>();
        for (;;) all.Add(new byte[100000]);
    }

    static int Threads()
    {
        var end = new ManualResetEvent(false);
        try {
            for (int i = 0; ; i++)
                new Thread(() => end.WaitOne()) { IsBackground = true }.Start();
        } finally { end.Set(); }
    }

    static int Handles()
    {
        var o = new object();
        // No such handle: its index has more bits than there are slots.
        foreach (var bits in new[] { 0x7FFFFFF3, 0x7FFFFFF0, 0x3FFFFFF1 }) {
            var h = default(GCHandle);
            try { h = GCHandle.FromIntPtr((IntPtr)bits); Console.WriteLine("a handle: " + h.Target); }
            catch (ArgumentException) { }
        }
        for (int n = 0; n < 40000000; n++)
            if (GCHandle.Alloc(o, GCHandleType.Weak).Target != o) return -1;
        return 0;
    }

    static int Main(string[] args)
    {
        int number = args.Length > 1 ? int.Parse(args[1]) : 0;
        var work = new Dictionary<string, Func<int>> {
            { "code", Code }, { "classes", Classes }, { "objects", () => Objects(number) }, { "arrays", Arrays },
            { "threads", Threads }, { "handles", Handles },
        }[args[0]];
        Console.WriteLine("filling");
        if (number < 0) return work();
        try {
            Console.WriteLine("done: " + (work() >= 0));
            return 0;
        } catch (Exception e) {
            while (e is TargetInvocationException || e is TypeInitializationException) e = e.InnerException;
            Console.WriteLine(e.GetType().Name);
            return e is OutOfMemoryException ? 3 : 4;
        }
    }
}
