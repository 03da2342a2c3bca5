// A delegate over a virtual method without an object looks the method up in a wrapper, which traces show; null is an error of the wrapper.
using System;
using System.Linq;

class Base
{
    public virtual string Get(int x) { throw new InvalidOperationException("base " + x); }
    public virtual Guid Large(Guid g) { throw new InvalidOperationException("large"); }
    public string Plain(int x) { throw new InvalidOperationException("plain " + x); }
}
class Derived : Base
{
    public override string Get(int x) { throw new InvalidOperationException("derived " + x); }
}
interface IDo { void Do(); }
class Doer : IDo { public void Do() { throw new InvalidOperationException("do"); } }
delegate Guid Larger(Base b, Guid g);

static class OpenVirtualFrames
{
    static T Open<T>(Type type, string name) { return (T)(object)Delegate.CreateDelegate(typeof(T), type.GetMethod(name)); }

    static void Show(Action action)
    {
        try { action(); }
        catch (Exception e)
        {
            Console.WriteLine(e.Message);
            foreach (string line in e.StackTrace.Split('\n').Select(l => l.Split('[')[0].TrimEnd())) Console.WriteLine(line);
        }
    }
    static void Main()
    {
        var get = Open<Func<Base, int, string>>(typeof(Base), "Get");
        Show(() => get(new Base(), 1));
        Show(() => get(new Derived(), 2));
        Show(() => get(null, 3));
        var large = Open<Larger>(typeof(Base), "Large");
        Show(() => large(new Base(), Guid.Empty));
        Show(() => large(null, Guid.Empty));
        var act = Open<Action<IDo>>(typeof(IDo), "Do");
        Show(() => act(new Doer()));
        Show(() => act(null));
        Show(() => Open<Func<Base, int, string>>(typeof(Base), "Plain")(new Base(), 4));
    }
}
