// A real proxy that returns nothing where a value is due: the wrapper of the call throws, in its own frame.
using System;
using System.Linq;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

class Remote : MarshalByRefObject
{
    public int Number() { return 1; }
    public virtual DateTime Date() { return default(DateTime); }
    public int? Maybe() { return 1; }
    public string Text() { return ""; }
}
class Nothing : RealProxy
{
    public Nothing() : base(typeof(Remote)) { }
    public override IMessage Invoke(IMessage message) { return new ReturnMessage(null, null, 0, null, (IMethodCallMessage)message); }
}

static class ResultsThatLack
{
    static void Show(Func<object> call)
    {
        try { Console.WriteLine(call() ?? "null"); }
        catch (Exception e)
        {
            Console.WriteLine(e.GetType().Name + ": " + e.Message);
            foreach (string line in e.StackTrace.Split('\n').Select(l => l.Split('[')[0].TrimEnd()).Where(l => l.Contains("wrapper"))) Console.WriteLine(line);
        }
    }
    static void Main()
    {
        var remote = (Remote)new Nothing().GetTransparentProxy();
        Show(() => remote.Number());
        Show(() => remote.Date());
        Show(() => remote.Maybe());
        Show(() => remote.Text());
    }
}
