// What belongs to a thread and was given in one domain is read in another: the state of an abort, the principal.
using System;
using System.Runtime.Remoting;
using System.Security.Principal;
using System.Threading;

[Serializable] class Copied { public int Number; }
class Referred : MarshalByRefObject { }
class Kept { }

class There : MarshalByRefObject
{
    static void Abort(object state) { Thread.CurrentThread.Abort(state); }
    public void AbortCopied() { Abort(new Copied { Number = 3 }); }
    public void AbortReferred() { Abort(new Referred()); }
    public void AbortKept() { Abort(new Kept()); }
    public void AbortText() { Abort("text"); }
    public void AbortNull() { Abort(null); }
    public void Become(string name) { Thread.CurrentPrincipal = new GenericPrincipal(new GenericIdentity(name), null); }
    public string Who() { return Thread.CurrentPrincipal.Identity.Name; }
}

static class ThreadState
{
    static string Of(ThreadAbortException e)
    {
        try
        {
            var state = e.ExceptionState;
            var copied = state as Copied;
            return copied != null ? "copied " + copied.Number : RemotingServices.IsTransparentProxy(state) ? "a proxy" : "" + (state ?? "null");
        }
        catch (InvalidOperationException x) { return x.Message; }
    }
    static void Try(Action abort)
    {
        try { abort(); }
        catch (ThreadAbortException e)
        {
            Console.WriteLine(Of(e));
            Thread.ResetAbort();
        }
    }

    static void Main()
    {
        var domain = AppDomain.CreateDomain("there");
        var there = (There)domain.CreateInstanceAndUnwrap(typeof(There).Assembly.FullName, "There");
        Try(there.AbortCopied);
        Try(there.AbortReferred);
        Try(there.AbortKept);
        Try(there.AbortText);
        Try(there.AbortNull);
        there.Become("somebody");
        AppDomain.Unload(domain);
        Console.WriteLine(Thread.CurrentPrincipal.Identity.Name);
        domain = AppDomain.CreateDomain("another");
        there = (There)domain.CreateInstanceAndUnwrap(typeof(There).Assembly.FullName, "There");
        Console.WriteLine(there.Who());
        AppDomain.Unload(domain);
    }
}
