// BeginInvoke of a delegate whose target is a proxy is a message of its own to the real proxy; the call context travels with it. By-reference numbers of calls into another
// domain keep what the method has stored, even if it throws.
using System;
using System.Reflection;
using System.Runtime.Remoting.Contexts;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;
using System.Threading;

interface IGreeter { string Greet(string name, ref int count); }
class Greeter : MarshalByRefObject, IGreeter
{
    public string Greet(string name, ref int count)
    {
        count += 10;
        return "hello " + name + " from " + AppDomain.CurrentDomain.FriendlyName;
    }
    public string Said() { return (CallContext.GetData("said") ?? "nothing").ToString(); }
    public void Fail(string why) { throw new InvalidOperationException(why); }
    public void Store(ref int a, ref long b, out double c, string s, bool fail)
    {
        a = 9;
        b = 1L << 40;
        c = 0.5;
        if (fail) throw new InvalidOperationException(s);
    }
    public int Slow(int n) { Thread.Sleep(50); return n * 2; }
}
[Synchronization]
class Bound : ContextBoundObject
{
    public int Add(int a, int b) { return a + b; }
    public int FromInside()
    {
        Func<int, int, int> add = Add;
        return add.EndInvoke(add.BeginInvoke(20, 22, null, null));
    }
}
[Serializable]
class Said : ILogicalThreadAffinative
{
    public override string ToString() { return "something"; }
}

class Own : RealProxy
{
    public Own(Type type) : base(type) { }
    public override IMessage Invoke(IMessage message)
    {
        var call = (IMethodCallMessage)message;
        Console.WriteLine("Invoke " + call.MethodName + " " + call.ArgCount + " " + call.GetArg(0));
        if (call.MethodName == "Fail") return new ReturnMessage(new InvalidOperationException("answered " + call.GetArg(0)), call);
        var arguments = call.MethodName == "Greet" ? new object[] { call.GetArg(0), 5 } : null;
        return new ReturnMessage("own " + call.GetArg(0), arguments, arguments == null ? 0 : 2, call.LogicalCallContext, call);
    }
}

static class Asynchronous
{
    delegate string GreetCall(string name, ref int count);
    delegate void StoreCall(ref int a, ref long b, out double c, string s, bool fail);

    static void Show(string what, GreetCall greet)
    {
        int count = 1;
        var result = greet.BeginInvoke(what, ref count, null, "state");
        Console.WriteLine(result.AsyncState + " " + count);
        Console.WriteLine(greet.EndInvoke(ref count, result) + " " + count + " " + result.IsCompleted);
        var done = new ManualResetEvent(false);
        greet.BeginInvoke("callback", ref count, ar => {
            int inside = 2;
            var own = (GreetCall)((AsyncResult)ar).AsyncDelegate;
            Console.WriteLine(own.EndInvoke(ref inside, ar) + " " + inside);
            done.Set();
        }, null);
        done.WaitOne();
    }
    static void Fails(Action<string> fail)
    {
        var result = fail.BeginInvoke("failed", null, null);
        try { fail.EndInvoke(result); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
    }

    static void Main()
    {
        var own = (Greeter)new Own(typeof(Greeter)).GetTransparentProxy();
        Show("proxy", own.Greet);
        Show("interface", ((IGreeter)own).Greet);
        Fails(own.Fail);

        var domain = AppDomain.CreateDomain("other");
        var there = (Greeter)domain.CreateInstanceAndUnwrap(typeof(Greeter).Assembly.FullName, "Greeter");
        Show("domain", there.Greet);
        Fails(there.Fail);
        Func<int, int> slow = there.Slow;
        var results = new IAsyncResult[8];
        for (int i = 0; i < 8; i++) results[i] = slow.BeginInvoke(i, null, null);
        int sum = 0;
        foreach (var result in results) sum += slow.EndInvoke(result);
        Console.WriteLine(sum);
        try { slow.EndInvoke(null); } catch (Exception e) { Console.WriteLine(e.GetType().Name); }
        CallContext.SetData("said", new Said());
        Func<string> said = there.Said;
        Console.WriteLine(said() + " " + said.EndInvoke(said.BeginInvoke(null, null)));
        CallContext.FreeNamedDataSlot("said");
        Console.WriteLine(said() + " " + said.EndInvoke(said.BeginInvoke(null, null)));

        int a = 1;
        long b = 2;
        double c = 3;
        there.Store(ref a, ref b, out c, "stored", false);
        Console.WriteLine(a + " " + b + " " + c);
        a = 1;
        b = 2;
        c = 3;
        try { there.Store(ref a, ref b, out c, "stored", true); } catch (InvalidOperationException e) { Console.WriteLine(e.Message + " " + a + " " + b + " " + c); }
        var numbers = new int[3];
        there.Store(ref numbers[1], ref b, out c, null, false);
        Console.WriteLine(numbers[1]);
        var arguments = new object[] { 1, 2L, 3.0, "reflection", true };
        try { typeof(Greeter).GetMethod("Store").Invoke(there, arguments); } catch (TargetInvocationException e) { Console.WriteLine(e.InnerException.Message + " " + arguments[0]); }

        var bound = new Bound();
        Func<int, int, int> add = bound.Add;
        Console.WriteLine(add.EndInvoke(add.BeginInvoke(1, 2, null, null)) + " " + bound.Add(4, 5));
        AppDomain.Unload(domain);
        try { slow.EndInvoke(slow.BeginInvoke(1, null, null)); } catch (AppDomainUnloadedException) { Console.WriteLine("unloaded"); }
    }
}
