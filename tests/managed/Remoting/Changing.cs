// Collections that another thread changes while they cross: an element that can be copied gives way to one that has to be serialized, and back.
using System;
using System.Collections;
using System.Threading;

[Serializable] public class Item { public int N = 3; }

public class Keeper : MarshalByRefObject
{
    readonly ArrayList list = new ArrayList { "a", "b" };
    volatile bool stop;
    public ArrayList Get() { return list; }
    public int Count(ArrayList given) { return given.Count; }
    public void Run() { Changing.Start(list, () => stop); }
    public void Stop() { stop = true; }
}

static class Changing
{
    public static void Start(ArrayList list, Func<bool> stop)
    {
        new Thread(() =>
        {
            object item = new Item(), text = "a";
            while (!stop()) { list[0] = item; Thread.SpinWait(20); list[0] = text; Thread.SpinWait(20); }
        }).Start();
    }
    static void Main()
    {
        var domain = AppDomain.CreateDomain("kid");
        var keeper = (Keeper)domain.CreateInstanceAndUnwrap(typeof(Keeper).Assembly.FullName, typeof(Keeper).FullName);
        keeper.Run();
        bool stop = false; var own = new ArrayList { "a", "b", "c" };
        Start(own, () => Volatile.Read(ref stop));
        int items = 0, texts = 0, others = 0, counted = 0;
        var until = DateTime.UtcNow.AddMilliseconds(700);
        while (DateTime.UtcNow < until)
        {
            object first = keeper.Get()[0];
            if (first is Item && ((Item)first).N == 3) items++; else if ((string)first == "a") texts++; else others++;
            if (keeper.Count(own) != 3) counted++;
        }
        keeper.Stop(); Volatile.Write(ref stop, true);
        Console.WriteLine("{0} {1} {2}", items + texts > 0, others, counted);
        AppDomain.Unload(domain);
    }
}
