// Calls that go back and forth between two domains without an end: a StackOverflowException, which comes back through all of them at once.
using System;
using System.Diagnostics;

public class Partner : MarshalByRefObject
{
    public int Call(Partner other, int depth) { return other.Call(this, depth + 1) + 1; }
    public string Text(Partner other, string text) { return other.Text(this, text) + "."; }
}

static class Endless
{
    static void Try(string what, Action call)
    {
        var watch = Stopwatch.StartNew();
        try { call(); Console.WriteLine(what + ": it ended"); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name + (watch.ElapsedMilliseconds < 20000 ? "" : ", after " + watch.Elapsed)); }
    }
    static void Main()
    {
        var domain = AppDomain.CreateDomain("other");
        var there = (Partner)domain.CreateInstanceAndUnwrap(typeof(Partner).Assembly.FullName, "Partner");
        for (int i = 0; i < 3; i++)
        {
            Try("numbers", () => there.Call(new Partner(), 0));  // expect: numbers: StackOverflowException
            Try("strings", () => there.Text(new Partner(), "s"));  // expect: strings: StackOverflowException
        }
        // expect: numbers: StackOverflowException
        // expect: strings: StackOverflowException
        // expect: numbers: StackOverflowException
        // expect: strings: StackOverflowException
        // The domains and the thread are as they were.
        Console.WriteLine(there.ToString());  // expect: Partner
        AppDomain.Unload(domain);
        Console.WriteLine("unloaded");  // expect: unloaded
    }
}
