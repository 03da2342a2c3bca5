// What arrays with a negative length throw, and what it says.
using System;

static class NegativeLengths
{
    static int minus = -1;

    static void Try(Func<Array> make)
    {
        try
        {
            make();
        }
        catch (OverflowException e)
        {
            Console.WriteLine("[" + e.Message + "]");
        }
    }

    static void Main()
    {
        Try(() => new int[minus]); // expect: [Arithmetic operation resulted in an overflow.]
        Try(() => new string[minus]); // expect: [Arithmetic operation resulted in an overflow.]
        Try(() => new int[minus, 2]); // expect: []
        Try(() => new string[0, minus]); // expect: []
    }
}
