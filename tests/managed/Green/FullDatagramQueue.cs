// grafts:
// A Unix datagram socket counts as ready to write although the queue of the socket that is sent to is full: a green thread that sends waits, and uses no processor meanwhile.
// mcs: -r:Mono.Posix.dll
using System;
using System.Diagnostics;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;
using Mono.Unix;

static class FullDatagramQueue
{
    const int Messages = 2000;
    static int sent;

    static void Main()
    {
        string path = Path.Combine(Path.GetTempPath(), "queue" + Process.GetCurrentProcess().Id);
        var receiver = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        receiver.Bind(new UnixEndPoint(path));
        var sender = Task.RunAsGreenThread(() => {
            var socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            var message = new byte[4];
            for (int i = 0; i < Messages; i++) {
                Buffer.BlockCopy(BitConverter.GetBytes(i), 0, message, 0, 4);
                socket.SendTo(message, new UnixEndPoint(path));
                Volatile.Write(ref sent, i + 1);
            }
            socket.Close();
        });
        // Until it waits.
        for (int before = -1; before != Volatile.Read(ref sent) || before == 0; Thread.Sleep(100)) before = Volatile.Read(ref sent);
        Console.WriteLine("full: " + (sent < Messages));
        var process = Process.GetCurrentProcess();
        TimeSpan used = process.TotalProcessorTime;
        Thread.Sleep(1000);
        process.Refresh();
        used = process.TotalProcessorTime - used;
        Console.WriteLine("waits: " + (used.TotalMilliseconds < 500));

        var buffer = new byte[16];
        bool inOrder = true;
        for (int i = 0; i < Messages; i++) inOrder &= receiver.Receive(buffer) == 4 && BitConverter.ToInt32(buffer, 0) == i;
        Console.WriteLine("in order: " + inOrder);
        sender.Wait();
        receiver.Close();
        File.Delete(path);
    }
}
