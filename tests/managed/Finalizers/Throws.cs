// An exception that leaves a finalizer is unhandled: the event, then exit code 255.
// exit: 255
using System;

class Thrower { ~Thrower () { throw new Exception ("from a finalizer"); } }

static class Throws
{
    static object kept;
    static void Main ()
    {
        Console.WriteLine ("Main"); // expect: Main
        kept = new Thrower ();
        AppDomain.CurrentDomain.UnhandledException += (s, e) =>
            Console.WriteLine (e.IsTerminating + " " + ((Exception) e.ExceptionObject).Message); // expect: True from a finalizer
    }
}
