// The caller that rethrows what came out of a call on a proxy has still called through the wrapper that asks whether the object is a proxy.
using System;
using System.Linq;

class Remote : MarshalByRefObject
{
    public void Throw() { throw new NotSupportedException(); }
    public virtual void Virtual() { throw new NotSupportedException(); }
}

static class RethrownFrames
{
    static void Show(Action action)
    {
        try { action(); }
        catch (Exception e)
        {
            foreach (string line in e.StackTrace.Split('\n').Select(l => l.Split('[')[0].TrimEnd())) Console.WriteLine(line);
            Console.WriteLine();
        }
    }
    static void Main()
    {
        var other = (Remote)AppDomain.CreateDomain("other").CreateInstanceAndUnwrap(typeof(Remote).Assembly.FullName, "Remote");
        foreach (Remote remote in new[] { other, new Remote() })
        {
            Show(() => { try { remote.Throw(); } catch { throw; } });
            Show(() => { try { remote.Throw(); } finally { Console.WriteLine("finally"); } });
            Show(() => { try { remote.Virtual(); } catch (NotSupportedException) { throw; } });
        }
    }
}
