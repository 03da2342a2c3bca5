// The exception of a failed class constructor is thrown again with a trace of its own, not a longer one.
using System;

static class Failing
{
    static Failing() { throw new ApplicationException("no"); }
    public static void Touch() { }
}

static class Program
{
    static void Main()
    {
        string first = null;
        for (int i = 0; i < 3; i++) {
            try { Failing.Touch(); }
            catch (TypeInitializationException e) {
                first = first ?? e.ToString();
                Console.WriteLine(e.ToString() == first);  // expect: True
            }
        }
        // expect: True
        // expect: True
    }
}
