using System;

static class Exceptions
{
    static int depth;

    static void Fall (int n)
    {
        try {
            if (n == 0) throw new InvalidOperationException ("bottom");
            Fall (n - 1);
        } finally { depth++; }
    }

    static void Main ()
    {
        try { Fall (5); }
        catch (InvalidOperationException e) when (e.Message == "top") { Console.WriteLine ("wrong filter"); }
        catch (InvalidOperationException e) { Console.WriteLine ("{0} after {1} finally blocks", e.Message, depth); } // expect: bottom after 6 finally blocks

        try { object o = "text"; Console.WriteLine ((int[]) o); }
        catch (InvalidCastException) { Console.WriteLine ("cast"); } // expect: cast
        try { int[] a = new int [2]; a [depth] = 1; }
        catch (IndexOutOfRangeException) { Console.WriteLine ("index"); } // expect: index
        try { string s = depth == 0 ? "" : null; Console.WriteLine (s.Length); }
        catch (NullReferenceException) { Console.WriteLine ("null"); } // expect: null
        try { Console.WriteLine (1 / (depth - 6)); }
        catch (DivideByZeroException) { Console.WriteLine ("zero"); } // expect: zero
    }
}
