// exit: 3
using System;

static class Hello
{
    static int Main ()
    {
        Console.WriteLine ("Hello, world"); // expect: Hello, world
        Console.WriteLine (string.Format ("{0:X} {1}", 48879, 6 * 7)); // expect: BEEF 42
        return 3;
    }
}
