// An exception that the class library could not serialize does not get out of a call through a proxy, wherever the called object lives: what comes out
// says so. It gets out of EndInvoke. The one that comes out otherwise is the one that was thrown.
using System;
using System.Reflection;
using System.Runtime.Remoting.Contexts;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

namespace A.B
{
    class Plain : Exception
    {
        public class Inner<T> : Exception { }
    }
}

[Serializable]
class Marked : Exception
{
    [NonSerialized] public int Kept = 5;
}

class Server : MarshalByRefObject
{
    public void Throw(Exception e) { throw e; }
    public virtual void ThrowVirtual(Exception e) { throw e; }
}

[Synchronization]
class Bound : ContextBoundObject
{
    public void Throw(Exception e) { throw e; }
}

class Thrower : RealProxy
{
    public Thrower() : base(typeof(Server)) { }
    public override IMessage Invoke(IMessage message)
    {
        var call = (IMethodCallMessage)message;
        var thrown = (Exception)call.Args[0];
        if (call.MethodName == "Throw")
            throw thrown;
        return new ReturnMessage(thrown, call);
    }
}

static class UnserializableExceptions
{
    static void Try(string how, Action<Exception> call, Exception thrown)
    {
        try
        {
            call(thrown);
        }
        catch (Exception e)
        {
            var real = e is TargetInvocationException ? e.InnerException : e;
            Console.WriteLine(how + ": " + (real == thrown ? "itself" : real.GetType() + ": " + real.Message));
        }
    }

    static void Main()
    {
        var proxy = (Server)new Thrower().GetTransparentProxy();
        var bound = new Bound();
        Action<Exception> over = proxy.Throw;
        var method = typeof(Server).GetMethod("Throw");
        foreach (var thrown in new Exception[] { new A.B.Plain(), new A.B.Plain.Inner<int>(), new Marked(), new Exception("", new A.B.Plain()) })
        {
            Try("call", e => proxy.Throw(e), thrown);
            Try("virtual call", e => proxy.ThrowVirtual(e), thrown);
            Try("delegate", e => over(e), thrown);
            Try("reflection", e => method.Invoke(proxy, new object[] { e }), thrown);
            Try("EndInvoke", e => over.EndInvoke(over.BeginInvoke(e, null, null)), thrown);
            Try("context", e => bound.Throw(e), thrown);
        }
        try
        {
            proxy.Throw(new A.B.Plain());
        }
        catch (Exception e)
        {
            Console.WriteLine(e.StackTrace.Substring(0, e.StackTrace.LastIndexOf(" [")));
        }
    }
}
