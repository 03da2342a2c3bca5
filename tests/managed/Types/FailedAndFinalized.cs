// Nothing fails in the finalizers of objects whose class could not be initialised when they were made.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.Serialization;

class Precise { static Precise() { throw new NotSupportedException(); } ~Precise() { GC.KeepAlive(this); } public void M() { } }

static class FailedAndFinalized
{
    static void Try(string what, Action action)
    {
        try { action(); Console.WriteLine(what + ": done"); }
        catch (TypeInitializationException e) { Console.WriteLine(what + ": " + e.TypeName); }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make()
    {
        Try("made", () => new Precise().M()); // expect: made: Precise
        Try("again", () => new Precise().M()); // expect: again: Precise
    }

    static void Main()
    {
        Make();
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Console.WriteLine("collected"); // expect: collected
    }
}
