// grafts:
// A green thread has sent a part of a message when the other end resets the connection: what it is told is the reset, as by the kernel.
using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

static class ResetAfterPart
{
    static void Main()
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        client.Connect(listener.LocalEndPoint);
        var server = listener.Accept();
        var sends = Task.RunAsGreenThread(() =>
        {
            try { return "sent " + client.Send(new byte[100 << 20]); }
            catch (SocketException e) { return e.SocketErrorCode.ToString(); }
        });
        // The buffers are full, and what is read by nobody makes a reset of the close.
        while (server.Available == 0) Thread.Sleep(1);
        Thread.Sleep(200);
        server.Close();
        Console.WriteLine(sends.Result);
    }
}
