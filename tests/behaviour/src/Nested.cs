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

static class Nested
{
    static void Main(string[] args)
    {
        switch (args[0]) {
            case "text": throw new NoText();
            case "message": throw new NoMessage();
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
