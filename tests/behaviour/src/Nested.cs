// Exceptions that nobody catches and that cannot say what they are, and a handler that throws.
using System;
using System.Threading;

class NoText : Exception
{
    public override string ToString() { throw new InvalidOperationException("in ToString"); }
}

class NoMessage : Exception
{
    public override string Message { get { throw new InvalidOperationException("in Message"); } }
}

class NullText : Exception
{
    public override string ToString() { return null; }
}

class ItselfOnce : Exception
{
    int times;
    public override string ToString() { if (times++ == 0) throw this; return "the second text"; }
}

class Itself : Exception
{
    public override string ToString() { throw this; }
}

class Zero : Exception
{
    public override string ToString() { return "up to here\0and no further"; }
}

static class Nested
{
    static void Main(string[] args)
    {
        switch (args[0]) {
            case "text": throw new NoText();
            case "message": throw new NoMessage();
            case "null": throw new NullText();
            case "itself": throw new Itself();
            case "once": throw new ItselfOnce();
            case "zero": throw new Zero();
            case "thread":
                var t = new Thread(() => { throw new NoText(); });
                t.Start();
                t.Join();
                break;
            case "handler":
                AppDomain.CurrentDomain.UnhandledException += (s, e) => {
                    Console.WriteLine("handler {0}", e.IsTerminating);
                    throw new Exception("from the handler");
                };
                throw new Exception("first");
        }
    }
}
