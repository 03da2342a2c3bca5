// grafts:
// Many green threads wait in Select for a socket that is closed, and whose number the next socket has at once: each finds it ready. What it receives next is
// not ended by that.
using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

static class ClosedSet
{
    const int Threads = 150;
    static Socket listener;

    static void Pair(out Socket a, out Socket b)
    {
        a = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        a.Connect(listener.LocalEndPoint);
        b = listener.Accept();
    }

    static void Main()
    {
        int ready = 0;
        var received = new int[Threads];
        var ends = new Socket[2 * Threads];
        listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(100);
        for (int i = 0; i < Threads; i++) Pair(out ends[2 * i], out ends[2 * i + 1]);
        for (int round = 0; round < 5; round++) {
            Socket a, b, c, d;
            Pair(out a, out b);
            Pair(out c, out d);
            int started = 0;
            var all = new Task[Threads];
            for (int i = 0; i < Threads; i++) {
                bool two = i % 2 == 0;
                int k = i;
                Socket mine = ends[2 * i];
                all[i] = Task.RunAsGreenThread(() => {
                    Interlocked.Increment(ref started);
                    var read = two ? new List<Socket> { a, c } : new List<Socket> { a };
                    Socket.Select(read, null, null, -1);
                    if (read.Count == 1 && read[0] == a) Interlocked.Increment(ref ready);
                    received[k] = mine.Receive(new byte[10]);
                });
            }
            // (One that asks for the number later gets that of the next socket, as under Mono.)
            while (Volatile.Read(ref started) < Threads) Thread.Sleep(1);
            Thread.Sleep(200);
            a.Close();
            var again = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
            again.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            Thread.Sleep(100);
            for (int i = 0; i < Threads; i++) ends[2 * i + 1].Send(new byte[5]);
            if (!Task.WaitAll(all, 20000)) {
                Console.WriteLine("round {0}: some wait for ever", round);
                return;
            }
            foreach (var s in new[] { again, b, c, d }) s.Close();
        }
        Console.WriteLine("{0} found it ready, {1} received {2}", ready, Threads, received[0]);
    }
}
