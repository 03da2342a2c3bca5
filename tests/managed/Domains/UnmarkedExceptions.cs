// An exception whose class is not marked as serializable does not get out of another domain: another one, which was thrown nowhere, says so.
using System;
using System.Runtime.Serialization;

class Unmarked : Exception
{
    public Unmarked(string message) : base(message) { }
    public class Inner<T> : ArgumentException { }
}

[Serializable]
class Marked : Exception
{
    public Marked(string message) : base(message) { }
    protected Marked(SerializationInfo info, StreamingContext context) : base(info, context) { }
}

[Serializable]
class WithoutConstructor : Exception
{
}

class Server : MarshalByRefObject
{
    public void Throw(int which)
    {
        switch (which)
        {
            case 0: throw new Unmarked("not told");
            case 1: throw new Unmarked.Inner<int>();
            case 2: throw new Marked("told");
            default: throw new WithoutConstructor();
        }
    }
    public int Result { get { throw new Unmarked("not told"); } }
}

static class UnmarkedExceptions
{
    static void Try(Action action)
    {
        try { action(); }
        catch (Exception e)
        {
            Console.WriteLine(e.GetType() + ": " + e.Message);
            Console.WriteLine(e.Source + " " + e.InnerException?.Message + " " + e.HResult.ToString("x") + " " + (e.TargetSite == null));
            var trace = e.StackTrace;
            Console.WriteLine(trace.Substring(0, trace.IndexOf(")\n") + 1));
        }
    }

    static void CallBack() { throw new Unmarked("called back"); }

    static void Main()
    {
        var domain = AppDomain.CreateDomain("other");
        var server = (Server)domain.CreateInstanceAndUnwrap(typeof(Server).Assembly.FullName, "Server");
        Try(() => server.Throw(0));
        Try(() => server.Throw(1));
        try { server.Throw(2); } catch (Marked e) { Console.WriteLine(e.Message + " " + e.Source); }
        try { server.Throw(3); } catch (SerializationException e) { Console.WriteLine(e.Message); }
        Try(() => server.Result.ToString());
        Try(() => domain.DoCallBack(CallBack));
    }
}
