// What operations on a socket throw, or give, that another thread closes meanwhile.
using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading;

static class ClosedMeanwhile
{
    static void Pair(out Socket a, out Socket b)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        a = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        a.Connect(listener.LocalEndPoint);
        b = listener.Accept();
        listener.Close();
    }

    static void Try(string name, Socket closed, Func<object> operation)
    {
        var closer = new Thread(() => { Thread.Sleep(400); closed.Close(); });
        closer.Start();
        object result;
        try {
            result = operation();
        } catch (SocketException e) {
            result = e.SocketErrorCode;
        } catch (IOException e) {
            result = "in an IOException: " + ((SocketException) e.InnerException).SocketErrorCode;
        }
        Console.WriteLine("{0}: {1}", name, result);
        closer.Join();
    }

    static void Main()
    {
        Socket a, b;
        SocketError error;
        var buffer = new byte[10];
        EndPoint from = new IPEndPoint(IPAddress.Any, 0);
        Pair(out a, out b);
        Try("Receive", a, () => a.Receive(buffer)); // expect: Receive: WouldBlock
        Pair(out a, out b);
        Try("Receive with the error", a, () => a.Receive(buffer, 0, 10, SocketFlags.None, out error) + " " + error);
        // expect: Receive with the error: 0 WouldBlock
        Pair(out a, out b);
        a.ReceiveTimeout = 20000;
        Try("Receive in time", a, () => a.Receive(buffer)); // expect: Receive in time: WouldBlock
        Pair(out a, out b);
        var list = new List<ArraySegment<byte>> { new ArraySegment<byte>(buffer) };
        Try("Receive of buffers", a, () => a.Receive(list)); // expect: Receive of buffers: WouldBlock
        Pair(out a, out b);
        Try("ReceiveFrom", a, () => a.ReceiveFrom(buffer, ref from)); // expect: ReceiveFrom: TimedOut
        Pair(out a, out b);
        Try("NetworkStream", a, () => new NetworkStream(a).Read(buffer, 0, 10));
        // expect: NetworkStream: in an IOException: WouldBlock
        Pair(out a, out b);
        Try("Send", a, () => a.Send(new byte[1 << 24])); // expect: Send: Interrupted
        Pair(out a, out b);
        string file = Path.GetTempFileName();
        File.WriteAllBytes(file, new byte[1 << 24]);
        Try("SendFile", a, () => { a.SendFile(file); return "has ended"; }); // expect: SendFile: has ended
        File.Delete(file);
        Pair(out a, out b);
        Try("Select", a, () => { var read = new List<Socket> { a }; Socket.Select(read, null, null, -1); return read.Count; });
        // expect: Select: 1
        Pair(out a, out b);
        Try("Select of two", a, () => {
            var read = new List<Socket> { b, a };
            Socket.Select(read, null, null, -1);
            return read.Count + " " + (read[0] == a);
        });
        // expect: Select of two: 1 True
        var datagrams = new UdpClient(0);
        IPEndPoint sender = null;
        Try("UdpClient", datagrams.Client, () => datagrams.Receive(ref sender)); // expect: UdpClient: TimedOut
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        Try("Accept", listener, () => listener.Accept()); // expect: Accept: Interrupted
    }
}
