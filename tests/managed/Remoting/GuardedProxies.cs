// Virtual, interface and inlined calls of objects of classes that derive from MarshalByRefObject: on the object itself they run here, on a transparent proxy in
// the object's domain, whichever came first and however often.
using System;
using System.Runtime.CompilerServices;

public interface INamed { string Name(); int Next(); }

public class Counter : MarshalByRefObject, INamed
{
    int count;
    // Small methods, which are inlined where the receiver is known to be no proxy.
    public virtual int Next() { Check(); return Add(1); }
    public virtual string Name() { Check(); return Domain; }
    public int Plain() { Check(); return count; }
    int Add(int n) { count += n; return count; }
    void Check() { if (count < 0) throw new InvalidOperationException("negative"); }
    static string Domain { get { return AppDomain.CurrentDomain.FriendlyName == "other" ? "other" : "here"; } }
    public int Twice() { return Plain() + Plain(); }
    public void Break() { count = -1; }
    public int Trace() { Check(); return 0; }
}
public sealed class Doubled : Counter { public override int Next() { return base.Next() * 2; } }

public static class GuardedProxies
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Sum(Counter c, int n) { int s = 0; for (int i = 0; i < n; i++) s += c.Next() + c.Twice(); return s; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int SumOf(INamed c, int n) { int s = 0; for (int i = 0; i < n; i++) s += c.Next(); return s; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Where(Counter c) { return c.Name(); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string WhereOf(INamed c) { return c.Name(); }

    static void Main()
    {
        var other = AppDomain.CreateDomain("other");
        var assembly = typeof(Counter).Assembly.FullName;
        var far = (Counter)other.CreateInstanceAndUnwrap(assembly, "Counter");
        var farDoubled = (Counter)other.CreateInstanceAndUnwrap(assembly, "Doubled");
        var all = new Counter[] { new Counter(), far, new Doubled(), farDoubled };
        for (int round = 0; round < 3; round++)
            foreach (var c in all)
                Console.Write("{0} {1} {2} {3} {4}; ", Sum(c, 5), SumOf(c, 5), Where(c), WhereOf(c), c.Plain());
        Console.WriteLine();
        // The same code, compiled for what it has met.
        for (int i = 0; i < 4000; i++) { Sum(all[0], 1); SumOf(all[2], 1); Where(all[0]); WhereOf(all[2]); }
        Console.WriteLine("{0} {1} {2} {3}", Sum(far, 2), SumOf(farDoubled, 2), Where(farDoubled), WhereOf(far));
        foreach (var c in new[] { all[0], far }) {
            c.Break();
            try { c.Next(); Console.WriteLine("no exception"); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
            try { c.Trace(); } catch (InvalidOperationException e) {
                var lines = e.StackTrace.Split('\n');
                Console.WriteLine(lines[0].Contains("Check") && lines[1].Contains("Trace"));
            }
        }
        Counter none = null;
        try { Sum(none, 1); } catch (NullReferenceException) { Console.WriteLine("null"); }
        try { WhereOf(none); } catch (NullReferenceException) { Console.WriteLine("null"); }
    }
}
