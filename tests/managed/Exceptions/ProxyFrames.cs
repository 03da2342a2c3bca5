// A call of a method that is not virtual on a proxy shows the wrapper that asks for a proxy behind the one that sends the call; a call by the table of methods
// shows only the latter.
using System;
using System.Linq;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

interface ISent { int Final(int i); }

class Sent : MarshalByRefObject, ISent
{
    public int Plain(int i) { return i; }
    public virtual int Virtual(int i) { return i; }
    public int Final(int i) { return i; }
    public static int Call(Sent sent) { return sent.Plain(1); }
    public int CallOther(Sent sent) { return sent.Plain(2); }
}

class Throwing : RealProxy
{
    public Throwing() : base(typeof(Sent)) { }
    public override IMessage Invoke(IMessage message) { throw new InvalidOperationException("sent"); }
}

static class ProxyFrames
{
    static void Try(string what, Action action)
    {
        try { action(); }
        catch (Exception e)
        {
            var wrappers = e.StackTrace.Split('\n').Where(l => l.Contains("(wrapper remoting")).Select(l => l.Trim());
            Console.WriteLine(what + ": " + string.Join(" | ", wrappers));
        }
    }

    static void Main()
    {
        var sent = (Sent)new Throwing().GetTransparentProxy();
        Try("plain", () => sent.Plain(1)); // expect: plain: at (wrapper remoting-invoke) Sent.Plain(int) | at (wrapper remoting-invoke-with-check) Sent.Plain(int)
        Try("virtual", () => sent.Virtual(1)); // expect: virtual: at (wrapper remoting-invoke) Sent.Virtual(int)
        Try("final", () => sent.Final(1)); // expect: final: at (wrapper remoting-invoke) Sent.Final(int) | at (wrapper remoting-invoke-with-check) Sent.Final(int)
        Try("interface", () => ((ISent)sent).Final(1)); // expect: interface: at (wrapper remoting-invoke) Sent.Final(int)
        Try("own static", () => Sent.Call(sent)); // expect: own static: at (wrapper remoting-invoke) Sent.Plain(int) | at (wrapper remoting-invoke-with-check) Sent.Plain(int)
        Try("own instance", () => new Sent().CallOther(sent)); // expect: own instance: at (wrapper remoting-invoke) Sent.Plain(int) | at (wrapper remoting-invoke-with-check) Sent.Plain(int)
    }
}
