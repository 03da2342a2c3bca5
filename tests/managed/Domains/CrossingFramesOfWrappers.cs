// What traces show of a call into another domain whose arguments or result cannot be brought across: the wrapper in which that is found out.
using System;
using System.Linq;
using System.Runtime.Serialization;

[Serializable]
class FailsToArrive : ISerializable
{
    public FailsToArrive() { }
    protected FailsToArrive(SerializationInfo info, StreamingContext context) { throw new InvalidOperationException("arriving"); }
    public void GetObjectData(SerializationInfo info, StreamingContext context) { }
}

[Serializable]
class FailsToLeave : ISerializable
{
    public void GetObjectData(SerializationInfo info, StreamingContext context) { throw new InvalidOperationException("leaving"); }
}

class NotSerializable { }

class Remote : MarshalByRefObject
{
    public void Takes(FailsToArrive value) { }
    public virtual void TakesVirtually(FailsToArrive value) { }
    public void Takes(FailsToLeave value) { }
    public void Takes(object value) { }
    public FailsToArrive GivesArriving() { return new FailsToArrive(); }
    public FailsToLeave GivesLeaving() { return new FailsToLeave(); }
    public object GivesOther() { return new NotSerializable(); }
}

static class CrossingFramesOfWrappers
{
    static void Try(string what, Action action)
    {
        try
        {
            action();
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", what, e.GetType());
            foreach (string line in e.StackTrace.Split('\n').Where(l => l.Contains("domain") || l.Contains("remoting") || l.Contains("rethrown")))
                Console.WriteLine(line);
        }
    }

    static void Main()
    {
        var domain = AppDomain.CreateDomain("other");
        var remote = (Remote) domain.CreateInstanceAndUnwrap(typeof(Remote).Assembly.FullName, "Remote");
        Try("an argument, there", () => remote.Takes(new FailsToArrive()));
        Try("of a virtual method", () => remote.TakesVirtually(new FailsToArrive()));
        Try("an argument, here", () => remote.Takes(new FailsToLeave()));
        Try("one of no serializable class", () => remote.Takes(new NotSerializable()));
        Try("a result, here", () => remote.GivesArriving());
        Try("a result, there", () => remote.GivesLeaving());
        Try("one of no serializable class", () => remote.GivesOther());
    }
}
