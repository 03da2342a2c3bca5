// A socket that was made of another by DuplicateAndClose goes on when the other is finalized. (In mono the descriptor is that of the other, and is closed with it.)
using System;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Threading;

static class DuplicatedSocket
{
    static SocketInformation Give(EndPoint to)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(to);
        return socket.DuplicateAndClose(Process.GetCurrentProcess().Id);
    }

    static void Main()
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(5);
        var given = new SocketInformation();
        var giver = new Thread(() => given = Give(listener.LocalEndPoint));
        giver.Start();
        giver.Join();
        var accepted = listener.Accept();
        var socket = new Socket(given);
        for (int i = 0; i < 3; i++) { GC.Collect(); GC.WaitForPendingFinalizers(); }
        var sender = new Thread(() => { Thread.Sleep(100); accepted.Send(new byte[] { 1, 2, 3 }); });
        sender.Start();
        Console.WriteLine("got " + socket.Receive(new byte[10])); // expect: got 3
        sender.Join();
    }
}
