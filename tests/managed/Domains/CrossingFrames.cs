// What the trace of an exception shows of a call into another domain: the wrappers by which it leaves and arrives, and what they pass on as it is.
using System;
using System.Text;
using System.Text.RegularExpressions;

interface IRemote
{
    void Interface(string text);
}

[Serializable]
class Value { public int Number; }

class Remote : MarshalByRefObject, IRemote
{
    public void Plain() { throw new Exception("plain"); }
    public int Numbers(int a, double b, ref int c, bool d, IntPtr e) { throw new Exception("numbers"); }
    public string Objects(string a, object b, Value c, DateTime d, int? e) { throw new Exception("objects"); }
    public int[] Arrays(int[] a, string[] b, object[] c, byte[,] d, DayOfWeek[] e, StringBuilder f) { throw new Exception("arrays"); }
    public void Enumeration(DayOfWeek a, decimal b, char c) { throw new Exception("enumeration"); }
    public virtual void Virtual(object a) { throw new Exception("virtual"); }
    public void Interface(string text) { throw new Exception("interface"); }
    public void Nested() { try { Plain(); } catch (Exception e) { throw new InvalidOperationException("outer", e); } }
    public int Property { get { throw new Exception("property"); } }
}

class Derived : Remote
{
    public override void Virtual(object a) { throw new Exception("derived"); }
}

static class CrossingFrames
{
    static void Try(string what, Action action)
    {
        try
        {
            action();
        }
        catch (Exception e)
        {
            Console.WriteLine(what);
            Console.WriteLine(Regex.Replace(e.ToString(), @" \[0x[0-9a-f]+\] in .*", ""));
        }
    }

    static void Thrower() { throw new Exception("thrower"); }

    static void Main()
    {
        var domain = AppDomain.CreateDomain("other");
        var remote = (Remote)domain.CreateInstanceAndUnwrap(typeof(Remote).Assembly.FullName, "Derived");
        int number = 1;
        Try("plain", () => remote.Plain());
        Try("numbers", () => remote.Numbers(1, 2, ref number, true, IntPtr.Zero));
        Try("objects", () => remote.Objects("a", null, new Value(), DateTime.Now, 1));
        Try("arrays", () => remote.Arrays(new int[1], new string[1], new object[1], new byte[1, 1], new DayOfWeek[1], new StringBuilder()));
        Try("enumeration", () => remote.Enumeration(DayOfWeek.Friday, 1, 'c'));
        Try("virtual", () => remote.Virtual(1));
        Try("interface", () => ((IRemote)remote).Interface("x"));
        Try("nested", () => remote.Nested());
        Try("property", () => { number = remote.Property; });
        Try("call back", () => domain.DoCallBack(Thrower));
    }
}
