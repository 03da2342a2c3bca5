// A thread blocked in a socket call is aborted; its finally runs and the socket is still good.
// mcs: -r:System.dll
using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;

static class AbortInSocket
{
    static void Main()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        var ready = new ManualResetEvent(false);
        var t = new Thread(() => {
            try {
                ready.Set();
                listener.AcceptSocket();
                Console.WriteLine("accepted?");
            } catch (ThreadAbortException e) {
                Console.WriteLine("aborted: " + e.ExceptionState); // expect: aborted: now
            } finally {
                Console.WriteLine("finally"); // expect: finally
            }
        });
        t.Start();
        ready.WaitOne();
        Thread.Sleep(50);
        t.Abort("now");
        Console.WriteLine(t.Join(10000)); // expect: True
        using (var client = new TcpClient("127.0.0.1", port))
        using (var server = listener.AcceptSocket()) {
            server.Send(new byte[] { 42 });
            Console.WriteLine(client.GetStream().ReadByte()); // expect: 42
        }
    }
}
