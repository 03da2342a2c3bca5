// Threads are aborted while they are on their way into a socket's blocking call: all of them see the abort and nothing else,
// the class library's own clean-up does not fail, and the socket is still good.
// mcs: -r:System.dll
using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;

static class AbortBeforeAccept
{
    static volatile bool go;
    static int aborted, other;

    static void Main()
    {
        for (int i = 0; i < 1500; i++) {
            using (var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)) {
                socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
                socket.Listen(1);
                go = false;
                var t = new Thread(() => {
                    try {
                        go = true;
                        socket.Accept();
                    } catch (ThreadAbortException) {
                        aborted++;
                    } catch (Exception e) {
                        if (other++ == 0) Console.WriteLine(e);
                    }
                });
                t.Start();
                while (!go) ;
                Thread.SpinWait(i % 150 * 4);
                t.Abort();
                t.Join();
            }
        }
        Console.WriteLine(aborted + " " + other); // expect: 1500 0
    }
}
