// gc-debug: no, a hundred thousand frames are walked at each collection
// A stack that is used up is an exception like another: caught on the main thread and others, with finally blocks on the
// way, by a filter, again and again; its trace has an end.
using System;
using System.Threading;

static class StackOverflow
{
    static int finals;

    static int Plain(int n) { return Plain(n + 1) + 1; }
    static int Guarded(int n) { try { return Guarded(n + 1); } catch (ThreadInterruptedException) { return 0; } }
    static int Final(int n) { try { return Final(n + 1) + 1; } finally { finals++; if (finals < 10) Helper(new int[n % 8]); } }
    static void Helper(int[] a) { if (a.Length > 8) Console.WriteLine(a.Length); }
    static bool Filter(Exception e) { return e is StackOverflowException; }

    static void Try(string name, Func<int, int> f)
    {
        for (int i = 0; i < 2; i++) {
            try { f(0); Console.WriteLine("no overflow"); }
            catch (Exception e) when (Filter(e)) {
                Console.WriteLine("{0}: {1} {2} {3}", name, e.GetType().Name, e.Message, e.StackTrace.Split('\n').Length > 500);
            }
        }
    }
    static void All(string where)
    {
        Try(where + " plain", Plain);
        Try(where + " guarded", Guarded);
        finals = 0;
        Try(where + " final", Final);
        Console.WriteLine(finals > 1000);
    }

    static void Main()
    {
        All("main");
        for (int size = 0; size < 2; size++) {
            var t = new Thread(() => All("thread"), size << 20);
            t.Start();
            t.Join();
        }
    }
}
