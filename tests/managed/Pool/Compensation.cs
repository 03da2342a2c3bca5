// Items of the pool that wait for each other, each in another kind of wait: all of them get workers, however many there are.
using System;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

static class Compensation
{
    static void All(string what, int count, Action<int> wait, Action release)
    {
        var inside = new CountdownEvent(count);
        var all = Enumerable.Range(0, count).Select(i => Task.Run(() => { inside.Signal(); wait(i); })).ToArray();
        bool together = inside.Wait(50000);
        release();
        Console.WriteLine("{0}: {1}", what, together && Task.WaitAll(all, 50000) ? "all at once" : "not all at once");
    }

    static void Main()
    {
        const int count = 60;
        var handle = new ManualResetEvent(false);
        All("wait handles", count, i => handle.WaitOne(), () => handle.Set());
        var slim = new ManualResetEventSlim();
        All("events", count, i => slim.Wait(), slim.Set);
        var source = new TaskCompletionSource<int>();
        All("tasks", count, i => source.Task.Wait(), () => source.SetResult(0));
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start(count);
        var pairs = Enumerable.Range(0, count).Select(i => {
            var client = new TcpClient();
            client.Connect((IPEndPoint)listener.LocalEndpoint);
            return new { client, server = listener.AcceptSocket() };
        }).ToArray();
        All("sockets", count, i => pairs[i].server.Receive(new byte[1]), () => { foreach (var p in pairs) p.client.Close(); });
        Console.WriteLine("done");
    }
}
