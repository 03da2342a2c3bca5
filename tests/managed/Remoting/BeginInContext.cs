using System;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Activation;
using System.Runtime.Remoting.Contexts;
using System.Runtime.Remoting.Messaging;
using System.Threading;

// BeginInvoke on an object of another context goes through that context's sinks once. (The thread that runs it is in the default context, so its accesses to fields go there, too.)
[AttributeUsage(AttributeTargets.Class)]
class LogAttribute : ContextAttribute, IContributeObjectSink
{
    public LogAttribute() : base("log") { }
    public IMessageSink GetObjectSink(MarshalByRefObject o, IMessageSink next) { return new Sink(next); }
    public override void GetPropertiesForNewContext(IConstructionCallMessage m) { m.ContextProperties.Add(this); }
    public override bool IsContextOK(Context c, IConstructionCallMessage m) { return false; }
}

class Sink : IMessageSink
{
    readonly IMessageSink next;
    public Sink(IMessageSink next) { this.next = next; }
    public IMessageSink NextSink { get { return next; } }
    public IMessage SyncProcessMessage(IMessage m)
    {
        Console.WriteLine("sync " + m.Properties["__MethodName"]);
        return next.SyncProcessMessage(m);
    }
    public IMessageCtrl AsyncProcessMessage(IMessage m, IMessageSink reply)
    {
        Console.WriteLine("async " + m.Properties["__MethodName"]);
        return next.AsyncProcessMessage(m, reply);
    }
}

[Log]
class Sum : ContextBoundObject
{
    int calls;
    public virtual int Add(int a, ref int b, out string s)
    {
        calls++;
        b += a;
        s = "call " + calls;
        return a + b;
    }
    public void Fail() { throw new InvalidOperationException("failed"); }
}

static class BeginInContext
{
    delegate int Adds(int a, ref int b, out string s);
    delegate void Fails();

    static void Main()
    {
        var sum = new Sum();
        int b = 2;
        string s;
        Adds add = sum.Add;
        Console.WriteLine("{0} {1}", add(1, ref b, out s), s);
        // expect: sync Add
        // expect: 4 call 1
        var called = new ManualResetEvent(false);
        var result = add.BeginInvoke(3, ref b, out s, ar => called.Set(), "state");
        // expect: async Add
        // expect: sync FieldGetter
        // expect: sync FieldSetter
        // expect: sync FieldGetter
        int value = add.EndInvoke(ref b, out s, result);
        Console.WriteLine("{0} {1} {2} {3}", value, b, s, result.AsyncState); // expect: 9 6 call 2 state
        called.WaitOne();
        Fails fail = sum.Fail;
        var failing = fail.BeginInvoke(null, null); // expect: async Fail
        try { fail.EndInvoke(failing); }
        catch (InvalidOperationException e) { Console.WriteLine(e.Message); } // expect: failed
    }
}
