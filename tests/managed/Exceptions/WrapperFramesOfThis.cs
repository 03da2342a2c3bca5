// Calls of an object's own methods, where the object is a MarshalByRefObject: mono's wrapper is around final methods of interfaces, no others.
using System;
using System.Text.RegularExpressions;

interface IFinal
{
    void Final();
}

class Remote : MarshalByRefObject, IFinal
{
    public void Final() { throw new Exception("final"); }
    public void Plain() { throw new Exception("plain"); }
    public virtual void Virtual() { throw new Exception("virtual"); }
    public static void Static() { throw new Exception("static"); }
    public void CallsFinal() { Final(); }
    public void CallsPlain() { Plain(); }
    public void CallsVirtual() { Virtual(); }
    public void CallsStatic() { Static(); }
}

class Derived : Remote
{
    public void CallsBase() { Final(); }
}

static class WrapperFramesOfThis
{
    static readonly Derived remote = new Derived();

    static void Try(Action action)
    {
        try
        {
            action();
        }
        catch (Exception e)
        {
            Console.WriteLine(e.Message);
            Console.WriteLine(Regex.Replace(e.StackTrace, @" \[0x[0-9a-f]+\] in .*", ""));
        }
    }

    static void Main()
    {
        Try(() => remote.CallsFinal());
        Try(() => remote.CallsPlain());
        Try(() => remote.CallsVirtual());
        Try(() => remote.CallsStatic());
        Try(() => remote.CallsBase());
        Try(() => AppDomain.CurrentDomain.Load("nowhere"));
        Try(() => AppDomain.CurrentDomain.ExecuteAssembly("nowhere.exe"));
    }
}
