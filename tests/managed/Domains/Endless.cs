// Calls that go back and forth between two domains without an end: a StackOverflowException, which comes back through all of them at once.
// gc-debug: no, the whole stack would be looked at in each of many collections
using System;

public class Partner : MarshalByRefObject
{
    public int Call(Partner other, int depth) { return other.Call(this, depth + 1) + 1; }
    public string Text(Partner other, string text) { return other.Text(this, text) + "."; }
}

static class Endless
{
    static void Try(string what, Action call)
    {
        try { call(); Console.WriteLine(what + ": it ended"); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name); }
    }
    static void Main()
    {
        var domain = AppDomain.CreateDomain("other");
        var there = (Partner)domain.CreateInstanceAndUnwrap(typeof(Partner).Assembly.FullName, "Partner");
        Try("numbers", () => there.Call(new Partner(), 0));  // expect: numbers: StackOverflowException
        Try("strings", () => there.Text(new Partner(), "s"));  // expect: strings: StackOverflowException
        // The domains and the thread are as they were.
        Console.WriteLine(there.ToString());  // expect: Partner
        AppDomain.Unload(domain);
        Console.WriteLine("unloaded");  // expect: unloaded
    }
}
