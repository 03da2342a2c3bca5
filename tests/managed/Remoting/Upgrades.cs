// What a proxy's class does not say: casts that its real proxy grants, methods that would never return, fields of generic classes.
using System;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

interface IGranted { void Call(); }
class Base : MarshalByRefObject
{
    public void OnlyThrows() { throw new NotImplementedException(); }
    public virtual int Virtual() { return 1; }
}
class Derived : Base { public virtual int Own() { return 2; } }
class Generic<T> : MarshalByRefObject
{
    public T Field;
    public class Nested : MarshalByRefObject { public T Inner; }
}

class Granting : RealProxy, IRemotingTypeInfo
{
    public Granting() : base(typeof(Base)) { }
    public bool CanCastTo(Type type, object proxy) { return true; }
    public string TypeName { get; set; }
    public override IMessage Invoke(IMessage message)
    {
        var call = (IMethodCallMessage)message;
        Console.Write("[" + call.MethodName + "] ");
        bool isVoid = ((System.Reflection.MethodInfo)call.MethodBase).ReturnType == typeof(void);
        return new ReturnMessage(isVoid ? null : (object)7, null, 0, null, call);
    }
}
class Forwarding : RealProxy
{
    readonly MarshalByRefObject server;
    public Forwarding(MarshalByRefObject server) : base(server.GetType()) { this.server = server; }
    public override IMessage Invoke(IMessage message) { return RemotingServices.ExecuteMessage(server, (IMethodCallMessage)message); }
}

static class Upgrades
{
    public static string Take(IGranted given) { given.Call(); return "taken"; }
    static T Proxy<T>(T server) where T : MarshalByRefObject { return (T)new Forwarding(server).GetTransparentProxy(); }

    static void Main()
    {
        var proxy = (Base)new Granting().GetTransparentProxy();
        proxy.OnlyThrows();
        Console.WriteLine("returned"); // expect: [OnlyThrows] returned
        Console.WriteLine(typeof(Upgrades).GetMethod("Take").Invoke(null, new object[] { proxy })); // expect: [Call] taken
        Console.WriteLine(typeof(ICloneable).IsInstanceOfType(proxy)); // expect: True
        Console.WriteLine(typeof(string).IsInstanceOfType(proxy)); // expect: False
        Console.WriteLine(proxy.GetType()); // expect: Base
        var derived = (Derived)proxy;
        Console.WriteLine(derived.Virtual() + derived.Own()); // expect: [Virtual] [Own] 14
        Console.WriteLine(proxy.GetType()); // expect: Derived

        var numbers = Proxy(new Generic<int>());
        numbers.Field = 5;
        Console.WriteLine(numbers.Field); // expect: 5
        var nested = Proxy(new Generic<string>.Nested());
        nested.Inner = "inner";
        Console.WriteLine(nested.Inner); // expect: inner
    }
}
