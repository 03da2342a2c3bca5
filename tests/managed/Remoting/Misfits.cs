// Real proxies that answer with values that do not fit, and the ways to a method on which nothing tests for a proxy.
using System;
using System.Reflection;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

struct Big { public long A, B, C, D; public string S; }

class Server : MarshalByRefObject
{
    public long Number;
    public Big Big;
    public string Text;
    public int Added;
    public int Property { get; set; }
    public string Named { get; set; }
    public int Add(int x) { return x + Added; }
    public Big Get(int x) { return Big; }
    public int Outs(out int a, out string b) { a = 1; b = ""; return 0; }
    public void OutBig(out Big b) { b = new Big(); }
}

// Answers with nothing, but for what an out argument is to be.
class Answering : RealProxy
{
    readonly object[] outs;
    public Answering(params object[] outs) : base(typeof(Server)) { this.outs = outs; }
    public override IMessage Invoke(IMessage message) { return new ReturnMessage(null, outs, outs.Length, null, (IMethodCallMessage)message); }
}
class Forwarding : RealProxy
{
    readonly MarshalByRefObject server;
    public Forwarding(MarshalByRefObject server) : base(server.GetType()) { this.server = server; }
    public override IMessage Invoke(IMessage message)
    {
        var call = (IMethodCallMessage)message;
        Console.Write("[" + call.MethodName + "] ");
        return RemotingServices.ExecuteMessage(server, call);
    }
}

static class Misfits
{
    static void Try(Func<object> what)
    {
        try { Console.WriteLine(what() ?? "null"); }
        catch (Exception e) { Console.WriteLine(e.GetType().Name); }
    }
    static Server Answer(params object[] outs) { return (Server)new Answering(outs).GetTransparentProxy(); }
    static D Open<D>(string name) { return (D)(object)Delegate.CreateDelegate(typeof(D), typeof(Server).GetMethod(name)); }

    static void Main()
    {
        Try(() => Answer().Add(1)); // expect: NullReferenceException
        Try(() => Answer().Get(1).A); // expect: NullReferenceException
        Try(() => Answer().Number); // expect: NullReferenceException
        Try(() => { int a; string b; return Answer("x", "y").Outs(out a, out b); }); // expect: InvalidCastException
        Try(() => { Big b; Answer(5).OutBig(out b); return b.A; }); // expect: InvalidCastException
        Try(() => { Big b; Answer(new Big { A = 3 }).OutBig(out b); return b.A; }); // expect: 3
        Try(() => { Big b = Answer(null, null, 3L).Big; return b.A; }); // expect: InvalidCastException
        Try(() => Answer(null, null, 3).Number); // expect: InvalidCastException
        Try(() => Answer(null, null, 3L).Number); // expect: 3
        Try(() => Answer(null, null, "text").Text); // expect: text
        // Mono takes the number for a string here.
        Try(() => Answer(null, null, 3).Text); // expect: InvalidCastException

        // Open delegates are how reflection reads properties. Mono runs these methods on the memory of the proxy.
        var server = new Server { Added = 10, Property = 4, Big = new Big { A = 5 } };
        var proxy = (Server)new Forwarding(server).GetTransparentProxy();
        Try(() => Open<Func<Server, int, int>>("Add")(proxy, 1)); // expect: [Add] 11
        Try(() => Open<Func<Server, int, int>>("Add")(server, 1)); // expect: 11
        Try(() => Open<Func<Server, int, Big>>("Get")(proxy, 1).A); // expect: [Get] 5
        Try(() => typeof(Server).GetProperty("Property").GetValue(proxy, null)); // expect: [get_Property] 4
        Try(() => typeof(Server).GetProperty("Named").GetValue(proxy, null)); // expect: [get_Named] null
        Try(() => { typeof(Server).GetProperty("Named").SetValue(proxy, "n", null); return server.Named; }); // expect: [set_Named] n
        Try(() => Open<Func<Server, int, int>>("Add")(null, 1)); // expect: NullReferenceException
    }
}
