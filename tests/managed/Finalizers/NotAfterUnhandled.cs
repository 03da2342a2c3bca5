// After an unhandled exception no finalizer runs.
// exit: 1
using System;

class Finalized { ~Finalized () { Console.WriteLine ("WRONG"); } }

static class NotAfterUnhandled
{
    static object kept;
    static void Main ()
    {
        kept = new Finalized ();
        Console.WriteLine ("Main"); // expect: Main
        throw new Exception ("unhandled");
    }
}
