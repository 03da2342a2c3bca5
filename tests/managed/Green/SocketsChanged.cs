// grafts:
// What a wait has found out of a socket is relied on by the next ones. Each way to change it: by the class library, which counts at once, and by native
// calls, which the runtime does not see: those count within a second.
using System;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class SocketsChanged
{
    [DllImport("libc")] static extern int setsockopt(int fd, int level, int name, long[] time, int size);
    [DllImport("libc")] static extern int dup2(int from, int to);
    [DllImport("libc")] static extern int dup(int fd);
    [DllImport("libc")] static extern int close(int fd);
    [DllImport("libc")] static extern int pipe(int[] ends);
    [DllImport("libc")] static extern IntPtr write(int fd, byte[] bytes, IntPtr count);

    static TcpListener listener;

    static Socket[] Pair()
    {
        var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        client.Connect(listener.LocalEndpoint);
        return new[] { client, listener.AcceptSocket() };
    }

    // Two messages, each of which the receiver waits for: the second wait relies on what the first has found.
    static void Warm(Socket[] pair)
    {
        for (int i = 0; i < 3; i++) {
            var waiter = Task.RunAsGreenThread(() => Receive(pair[1]));
            Thread.Sleep(20);
            pair[0].Send(new byte[] { (byte)i });
            if (waiter.Result != i.ToString()) throw new Exception("warm " + waiter.Result);
        }
    }

    static string Receive(Socket socket)
    {
        try {
            var bytes = new byte[10];
            int count = socket.Receive(bytes);
            return count == 0 ? "end" : bytes[0].ToString();
        }
        catch (SocketException e) {
            // mono has either word for an elapsed time limit.
            return e.SocketErrorCode == SocketError.TimedOut || e.SocketErrorCode == SocketError.WouldBlock ? "too late" : e.SocketErrorCode.ToString();
        }
        catch (ObjectDisposedException) {
            return "disposed";
        }
    }

    static void Show(string what, Func<string> test)
    {
        var task = Task.RunAsGreenThread(test);
        Console.WriteLine(what + ": " + (task.Wait(20000) ? task.Result : "lost"));
    }

    static void Main()
    {
        listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();

        var a = Pair();
        Warm(a);
        a[1].ReceiveTimeout = 50;
        Show("a time limit", () => Receive(a[1])); // expect: a time limit: too late
        a[1].ReceiveTimeout = 0;
        Warm(a);

        a[1].Blocking = false;
        var watch = Stopwatch.StartNew();
        Show("non-blocking", () => Receive(a[1])); // expect: non-blocking: too late
        Console.WriteLine(watch.ElapsedMilliseconds < 900); // expect: True
        a[1].Blocking = true;
        Warm(a);

        // Native calls change the socket. 300 ms.
        int fd = (int)a[1].Handle;
        setsockopt(fd, 1, 20, new long[] { 0, 300000 }, 16);
        Show("a native time limit", () => Receive(a[1])); // expect: a native time limit: too late
        setsockopt(fd, 1, 20, new long[] { 0, 0 }, 16);
        Warm(a);

        // A call has the limits that it began with.
        foreach (var change in new Action[] { () => a[1].ReceiveTimeout = 200, () => { a[1].ReceiveTimeout = 200; a[1].Blocking = false; }, () => a[1].Blocking = false }) {
            var begun = Task.RunAsGreenThread(() => Receive(a[1]));
            Thread.Sleep(50);
            change();
            Thread.Sleep(1500);
            a[0].Send(new byte[] { 5 });
            Console.WriteLine(begun.Wait(20000) ? begun.Result : "lost"); // expect: 5
            // expect: 5
            // expect: 5
            a[1].Blocking = true;
            a[1].ReceiveTimeout = 0;
            Warm(a);
        }

        // Pipes that native code makes and closes have the same numbers.
        watch.Restart();
        for (int i = 0; i < 5; i++) {
            var ends = new int[2];
            if (pipe(ends) != 0) throw new Exception("no pipe");
            var reader = new System.IO.FileStream(new Microsoft.Win32.SafeHandles.SafeFileHandle((IntPtr)ends[0], false), System.IO.FileAccess.Read, 1);
            for (int k = 0; k < 2; k++) {
                var read = Task.RunAsGreenThread(() => reader.ReadByte());
                Thread.Sleep(20);
                write(ends[1], new byte[] { 9 }, (IntPtr)1);
                if (!read.Wait(20000) || read.Result != 9) Console.WriteLine("lost");
            }
            close(ends[0]);
            close(ends[1]);
        }
        Console.WriteLine(watch.ElapsedMilliseconds < 2000); // expect: True

        // Another socket takes the number's place, and gets a message while the thread waits there and before.
        foreach (var early in new[] { true, false }) {
            var b = Pair();
            int kept = dup(fd);
            dup2((int)b[1].Handle, fd);
            if (early) b[0].Send(new byte[] { 7 });
            var waiter = Task.RunAsGreenThread(() => Receive(a[1]));
            Thread.Sleep(100);
            if (!early) b[0].Send(new byte[] { 8 });
            Console.WriteLine(waiter.Wait(20000) ? waiter.Result : "lost"); // expect: 7
            // expect: 8
            dup2(kept, fd);
            close(kept);
            b[0].Close();
            b[1].Close();
            // The first wait may rely on the other socket, and look anew after a second.
            Warm(a);
        }

        // Closed while the thread waits, by either end; then the number is another socket's.
        var closed = Task.RunAsGreenThread(() => Receive(a[1]));
        Thread.Sleep(50);
        a[0].Close();
        Console.WriteLine(closed.Wait(20000) ? closed.Result : "lost"); // expect: end
        a[1].Close();
        for (int i = 0; i < 20; i++) {
            var c = Pair();
            Warm(c);
            var own = Task.RunAsGreenThread(() => Receive(c[1]));
            Thread.Sleep(5);
            if (i % 2 == 0) c[1].Close(); else c[0].Shutdown(SocketShutdown.Send);
            if (!own.Wait(20000)) Console.WriteLine("lost");
            c[0].Close();
            c[1].Close();
        }

        // Two threads wait for one socket, and two messages come.
        var d = Pair();
        Warm(d);
        for (int i = 0; i < 50; i++) {
            var both = new[] { Task.RunAsGreenThread(() => Receive(d[1])), Task.RunAsGreenThread(() => Receive(d[1])) };
            if (i % 5 == 0) Thread.Sleep(3);
            d[0].Send(new byte[] { 1 });
            if (Task.WaitAny(both, 20000) < 0) Console.WriteLine("lost");
            d[0].Send(new byte[] { 2 });
            // (One may have received both messages.)
            if (!Task.WaitAll(both, 30)) d[0].Send(new byte[] { 3 });
            if (!Task.WaitAll(both, 20000)) Console.WriteLine("lost");
        }
        // An abort reaches a wait that relies.
        Warm(d);
        Thread victim = null;
        var aborted = Task.RunAsGreenThread(() => { victim = Thread.CurrentThread; try { return Receive(d[1]); } catch (ThreadAbortException) { Thread.ResetAbort(); return "aborted"; } });
        Thread.Sleep(50);
        victim.Abort();
        Console.WriteLine(aborted.Wait(20000) ? aborted.Result : "lost"); // expect: aborted
        Console.WriteLine("done"); // expect: done
    }
}
