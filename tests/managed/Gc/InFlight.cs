// Exceptions under way while it collects: thrown objects, what filters, finally blocks and handlers hold, rethrown and
// wrapped ones, through frames of reflection and delegates.
using System;
using System.Collections.Generic;
using System.Reflection;

sealed class Carrier : Exception
{
    public readonly object[] Load;
    public Carrier(int id, Exception inner) : base("carrier " + id, inner) { Load = new object[] { id, "load " + id, new Carrier[1] }; }
    public bool Right(int id) { return (int)Load[0] == id && (string)Load[1] == "load " + id && Message == "carrier " + id; }
}

static class InFlight
{
    static object garbage;
    static int turns, wrong;
    static void Churn()
    {
        for (int i = 0; i < 2000; i++) garbage = new object[i % 12];
        GC.Collect(turns++ % 8 == 0 ? 1 : 0);
    }
    static bool Filter(Carrier c, int id, object local) { Churn(); if (!c.Right(id) || (int)local != id) wrong++; return id % 2 == 0; }

    static void Throw(int depth, int id)
    {
        object local = id;
        string text = "text " + depth;
        try {
            if (depth == 0) throw new Carrier(id, null);
            Throw(depth - 1, id);
        }
        catch (Carrier c) when (depth % 3 == 1 && Filter(c, id, local)) { Churn(); throw new Carrier(id, c); }
        finally {
            Churn();
            if ((int)local != id || text != "text " + depth) wrong++;
            // An exception inside a finally, while another is under way.
            try { throw new InvalidOperationException(text); }
            catch (InvalidOperationException e) { Churn(); if (e.Message != text) wrong++; }
        }
    }

    static int Chain(Exception e, int id)
    {
        int n = 0;
        for (; e != null; e = e.InnerException, n++) if (e is Carrier && !((Carrier)e).Right(id)) wrong++;
        return n;
    }

    static void Rethrow(int id)
    {
        object local = "local " + id;
        try { Throw(4, id); }
        catch (Carrier) { Churn(); if ((string)local != "local " + id) wrong++; throw; }
    }

    static void Main()
    {
        var lengths = new List<int>();
        for (int id = 0; id < 12; id++) {
            try { Rethrow(id); }
            catch (Carrier c) { Churn(); lengths.Add(Chain(c, id)); if (c.StackTrace.Length == 0) wrong++; }
        }
        Console.WriteLine(string.Join(" ", lengths));                               // expect: 3 1 3 1 3 1 3 1 3 1 3 1
        Console.WriteLine(wrong);                                                   // expect: 0

        // Through reflection and a delegate.
        var method = typeof(InFlight).GetMethod("Throw", BindingFlags.NonPublic | BindingFlags.Static);
        try { method.Invoke(null, new object[] { 3, 5 }); }
        catch (TargetInvocationException e) { Churn(); Console.WriteLine(Chain(e, 5)); }    // expect: 2
        Action<int, int> d = Throw;
        try { d(3, 6); } catch (Carrier c) { Churn(); Console.WriteLine(Chain(c, 6)); }     // expect: 2

        // Runtime exceptions: made by the runtime itself, in the middle of code that collects.
        int caught = 0;
        for (int i = 0; i < 50; i++) {
            object[] none = i % 5 == 0 ? null : new object[i % 3];
            object o = "text";
            try {
                Churn();
                if (i % 5 == 1) { int zero = none.Length - none.Length; Console.Write(1 / zero); }
                if (i % 5 == 2) o = (int[])o;
                if (i % 5 == 4) { object[] a = new string[1]; a[0] = i; }
                Console.Write(none[5]);
            }
            catch (NullReferenceException e) { Churn(); if (i % 5 == 0 && e.Message.Length > 0) caught++; }
            catch (DivideByZeroException e) { Churn(); if (i % 5 == 1 && e.Message.Length > 0) caught++; }
            catch (InvalidCastException e) { Churn(); if (i % 5 == 2 && e.Message.Length > 0) caught++; }
            catch (IndexOutOfRangeException e) { Churn(); if (i % 5 == 3 && e.Message.Length > 0) caught++; }
            catch (ArrayTypeMismatchException e) { Churn(); if (i % 5 == 4 && e.Message.Length > 0) caught++; }
        }
        Console.WriteLine(caught + " " + wrong);                                    // expect: 50 0
    }
}
