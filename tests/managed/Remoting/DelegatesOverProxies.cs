// Delegates over proxies that stand for an interface: made by reflection, by name and by the language, the proxy answers.
using System;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

public interface IAnswer { int F(int x); }
class Answering : RealProxy
{
    public Answering(Type type) : base(type) { }
    public override IMessage Invoke(IMessage m)
    {
        var call = (IMethodCallMessage)m;
        return new ReturnMessage(500 + (int)call.Args[0], null, 0, call.LogicalCallContext, call);
    }
}
static class DelegatesOverProxies
{
    static void Main()
    {
        var proxy = (IAnswer)new Answering(typeof(IAnswer)).GetTransparentProxy();
        var method = typeof(IAnswer).GetMethod("F");
        Func<int, int> plain = proxy.F;
        var made = (Func<int, int>)Delegate.CreateDelegate(typeof(Func<int, int>), proxy, method);
        var named = (Func<int, int>)Delegate.CreateDelegate(typeof(Func<int, int>), proxy, "F");
        var open = (Func<IAnswer, int, int>)Delegate.CreateDelegate(typeof(Func<IAnswer, int, int>), method);
        Console.WriteLine("{0} {1} {2} {3} {4}", plain(1), made(2), named(3), open(proxy, 4), made.DynamicInvoke(5)); // expect: 501 502 503 504 505
        Console.WriteLine("{0} {1}", made.Method.Name, plain.Method.DeclaringType); // expect: F IAnswer
    }
}
