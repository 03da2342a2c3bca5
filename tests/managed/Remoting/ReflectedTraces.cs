// The trace of a call on a proxy through reflection has the wrapper that sends the call, as that of a call by code.
using System;
using System.Linq;
using System.Reflection;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

interface IFace { int Face(); }
class Remote : MarshalByRefObject, IFace
{
    public int Method() { throw new NotSupportedException(); }
    public virtual int Virtual() { throw new NotSupportedException(); }
    public int Face() { throw new NotSupportedException(); }
    public int Property { get { throw new NotSupportedException(); } }
}
class Refusing : RealProxy
{
    public Refusing() : base(typeof(Remote)) { }
    public override IMessage Invoke(IMessage message) { throw new InvalidOperationException(); }
}
class Passing : RealProxy
{
    readonly Remote target = new Remote();
    public Passing() : base(typeof(Remote)) { }
    public override IMessage Invoke(IMessage message) { return RemotingServices.ExecuteMessage(target, (IMethodCallMessage)message); }
}

static class ReflectedTraces
{
    static void Show(string what, object proxy, MethodInfo method)
    {
        Console.WriteLine(what + " " + method.Name);
        try { method.Invoke(proxy, null); }
        catch (TargetInvocationException e)
        {
            foreach (string line in e.InnerException.StackTrace.Split('\n').Select(l => l.Split('[')[0].TrimEnd())) Console.WriteLine(line);
        }
    }
    static void Main()
    {
        object other = AppDomain.CreateDomain("other").CreateInstanceAndUnwrap(typeof(Remote).Assembly.FullName, "Remote");
        foreach (object proxy in new[] { new Refusing().GetTransparentProxy(), new Passing().GetTransparentProxy(), other })
        {
            string what = RemotingServices.GetRealProxy(proxy).GetType().Name;
            foreach (string name in new[] { "Method", "Virtual", "Face", "get_Property" }) Show(what, proxy, typeof(Remote).GetMethod(name));
            Show(what, proxy, typeof(IFace).GetMethod("Face"));
        }
    }
}
