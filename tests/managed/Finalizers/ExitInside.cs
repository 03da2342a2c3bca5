// Environment.Exit in a finalizer ends the process, at its end too; what another finalizer would do is not waited for.
// exit: 9
using System;

class Leaver { ~Leaver () { Environment.Exit (9); } }

static class ExitInside
{
    static object kept;
    static void Main ()
    {
        kept = new Leaver ();
        Console.WriteLine ("Main"); // expect: Main
    }
}
