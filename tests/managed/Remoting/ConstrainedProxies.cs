// A constrained call of a sealed class goes to the proxy, if the object is one.
using System;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

interface IAsked { int Ask(int x); }
sealed class Asked : MarshalByRefObject, IAsked
{
    public int Ask(int x) { return x; }
    public override string ToString() { return "object"; }
}
sealed class Answering : RealProxy
{
    public int Calls;
    public Answering() : base(typeof(Asked)) { }
    public override IMessage Invoke(IMessage message)
    {
        var call = (IMethodCallMessage)message;
        Calls++;
        return new ReturnMessage(call.MethodName == "Ask" ? (object)((int)call.GetArg(0) + 1000) : "proxy", null, 0, null, call);
    }
}

static class ConstrainedProxies
{
    static int Ask<T>(T o, int n) where T : IAsked { int x = 0; for (int i = 0; i < n; i++) x += o.Ask(i); return x; }
    static string Text<T>(T o) { return o.ToString(); }

    static void Main()
    {
        var proxy = new Answering();
        var o = (Asked)proxy.GetTransparentProxy();
        var own = new Asked();
        int sum = 0;
        for (int round = 0; round < 300; round++) sum += Ask(own, 50);
        Console.WriteLine(sum);
        sum = 0;
        for (int round = 0; round < 300; round++) sum += Ask(o, 50);
        Console.WriteLine(sum + " by " + proxy.Calls);
        Console.WriteLine(Text(own) + " " + Text(o));
    }
}
