// A thread blocked in a socket call is aborted, and the socket of another is closed, while a library's signals come one after
// the other: the signal that is to end the call mostly finds the thread in the library's handler.
// cc: -pthread
// mcs: -r:System.dll
using System;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Threading;

static class AbortUnderSignals
{
    [DllImport("AbortUnderSignals")] static extern int storm_begin();
    [DllImport("AbortUnderSignals")] static extern void storm_here();
    [DllImport("AbortUnderSignals")] static extern void storm_nowhere();
    [DllImport("AbortUnderSignals")] static extern void storm_end();

    const int Rounds = 150;

    static void Main()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var address = (IPEndPoint)listener.LocalEndpoint;
        Console.WriteLine("storm " + storm_begin()); // expect: storm 0
        int ended = 0;
        for (int round = 0; round < Rounds; round++) {
            using (var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)) {
                client.Connect(address);
                using (var server = listener.AcceptSocket()) {
                    bool aborts = round % 2 == 0;
                    var t = new Thread(() => {
                        storm_here();
                        try { client.Receive(new byte[1]); }
                        catch (ThreadAbortException) { Thread.ResetAbort(); }
                        catch (SocketException) { }
                        catch (ObjectDisposedException) { }
                        storm_nowhere();
                    });
                    t.Start();
                    // At any moment: before the call, on the way into it, in it.
                    Thread.SpinWait(round * 1000);
                    if (round % 3 == 0) Thread.Sleep(1);
                    if (aborts) t.Abort(); else client.Close();
                    if (!t.Join(10000)) {
                        Console.WriteLine("round " + round + (aborts ? ": the abort" : ": the close") + " is lost");
                        Environment.Exit(1);
                    }
                    ended++;
                }
            }
        }
        storm_end();
        Console.WriteLine("ended " + ended); // expect: ended 150
    }
}
