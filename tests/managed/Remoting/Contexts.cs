// Context-bound objects are made and called through their proxies, however they are made and wherever they are called from.
using System;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Activation;
using System.Runtime.Remoting.Contexts;
using System.Runtime.Remoting.Messaging;
using System.Threading;

class LoggedAttribute : ContextAttribute, IContributeObjectSink
{
    public LoggedAttribute() : base("Logged") { }
    public override bool IsContextOK(Context context, IConstructionCallMessage message) { return false; }
    public IMessageSink GetObjectSink(MarshalByRefObject o, IMessageSink next) { return new Sink(next); }
}
class Sink : IMessageSink
{
    readonly IMessageSink next;
    public Sink(IMessageSink next) { this.next = next; }
    public IMessageSink NextSink { get { return next; } }
    public IMessage SyncProcessMessage(IMessage message)
    {
        Console.Write("[" + ((IMethodMessage)message).MethodName + "] ");
        return next.SyncProcessMessage(message);
    }
    public IMessageCtrl AsyncProcessMessage(IMessage message, IMessageSink reply) { return next.AsyncProcessMessage(message, reply); }
}

[Logged]
class Logged : ContextBoundObject
{
    public int Field = 3;
    public Logged() { }
    public Logged(int field) { Field = field; }
    public Logged(ref int given, out string text) { Field = given; given = 9; text = "out"; }
    public int Add(int x) { return x + Field; }
    public bool IsDefault() { return Thread.CurrentContext == Context.DefaultContext; }
    public override object InitializeLifetimeService() { return null; }
}

static class Contexts
{
    static T New<T>() where T : new() { return new T(); }
    static void Show(string how, Logged made)
    {
        Console.Write(how + ": ");
        Console.WriteLine(RemotingServices.IsTransparentProxy(made) + " " + made.Add(1) + " " + made.IsDefault());
    }

    static void Main()
    {
        Show("new", new Logged());
        Show("generic", New<Logged>());
        Show("activator", Activator.CreateInstance<Logged>());
        Show("by type", (Logged)Activator.CreateInstance(typeof(Logged)));
        Show("with an argument", (Logged)Activator.CreateInstance(typeof(Logged), 5));
        Show("constructor", (Logged)typeof(Logged).GetConstructor(new[] { typeof(int) }).Invoke(new object[] { 6 }));
        var arguments = new object[] { 7, null };
        Show("by reference", (Logged)typeof(Logged).GetConstructor(new[] { typeof(int).MakeByRefType(), typeof(string).MakeByRefType() }).Invoke(arguments));
        Console.WriteLine(arguments[0] + " " + arguments[1]);
        try { Interlocked.Increment(ref new Logged().Field); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }

        // Calls from another domain go through the sinks, too.
        var domain = AppDomain.CreateDomain("other");
        var there = (Logged)domain.CreateInstanceAndUnwrap(typeof(Logged).Assembly.FullName, "Logged");
        Console.WriteLine();
        Show("there", there);
        AppDomain.Unload(domain);
    }
}
