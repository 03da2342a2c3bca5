// An object that no constructor has made: the first instance method that is called of its class runs the class's initialiser, however it is called.
// tiers: all
using System;
using System.Runtime.Serialization;

class ByCall { static ByCall() { Console.Write("initialised "); } public int F; public void M() { Console.Write("called "); } }
class ByVirtualCall { static ByVirtualCall() { Console.Write("initialised "); } public virtual void M() { Console.Write("called "); } }
class ByInvoke { static ByInvoke() { Console.Write("initialised "); } public void M() { Console.Write("called "); } }
class ByDelegate { static ByDelegate() { Console.Write("initialised "); } public void M() { Console.Write("called "); } }
class ByInterface : IDisposable { static ByInterface() { Console.Write("initialised "); } public void Dispose() { Console.Write("called "); } }
class ByDerived { static ByDerived() { Console.Write("initialised "); } public virtual void M() { Console.Write("called "); } }
class Derived : ByDerived { public override void M() { Console.Write("derived "); base.M(); } }
class ByEarlier { static ByEarlier() { Console.Write("initialised "); } public void M() { Console.Write("called "); } public static void S() { Console.Write("static "); } }
class Relaxed { static int x = Say(); static int Say() { Console.Write("initialised "); return 1; } public void M() { Console.Write("called "); } }
class Failing { static Failing() { throw new NotSupportedException(); } public int F = 1; public void M() { Console.Write("called "); } public virtual void V() { Console.Write("called "); } }

static class InitialisersOfDeserialised
{
    static T Make<T>() { return (T)FormatterServices.GetUninitializedObject(typeof(T)); }

    static void Try(string what, Action action)
    {
        Console.Write(what + ": ");
        try { action(); Console.WriteLine("done"); }
        catch (Exception e) { Console.WriteLine(e.GetType().Name + " " + (e.InnerException == null ? "" : e.InnerException.GetType().Name)); }
    }

    static void Main()
    {
        ByCall made = Make<ByCall>();
        Try("field", () => Console.Write(made.F + " "));
        Try("call", () => made.M());
        Try("call again", () => made.M());
        Try("virtual call", () => Make<ByVirtualCall>().M());
        Try("invoke", () => typeof(ByInvoke).GetMethod("M").Invoke(Make<ByInvoke>(), null));
        Try("delegate", () => { Action action = Make<ByDelegate>().M; Console.Write("made "); action(); });
        Try("interface", () => { using (IDisposable d = Make<ByInterface>()) Console.Write("using "); });
        Try("base call", () => Make<Derived>().M());
        Try("after a static method", () => { ByEarlier e = Make<ByEarlier>(); ByEarlier.S(); e.M(); });
        Try("beforefieldinit", () => Make<Relaxed>().M());
        Try("failing field", () => Console.Write(Make<Failing>().F + " "));
        for (int i = 0; i < 2; i++)
        {
            Try("failing call", () => Make<Failing>().M());
            Try("failing virtual call", () => Make<Failing>().V());
            Try("failing invoke", () => typeof(Failing).GetMethod("M").Invoke(Make<Failing>(), null));
        }
    }
}
