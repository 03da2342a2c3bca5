// grafts:
// mcs: -r:System.dll
// timeout: 120
// Three hundred green threads at a time in each kind of wait. None of them keeps an OS thread.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.IO.Pipes;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

static class Waits
{
    // (More than fits into the buffers of two sockets that nobody reads.)
    const int Count = 300, Large = 1 << 20;
    static readonly byte[] large = new byte[Large];

    static int OsThreads() { return Directory.GetDirectories("/proc/self/task").Length; }

    // Has that many threads run `wait`, which blocks until `release` has run; says how many waited at once, and whether they took OS threads.
    // Without `release` the wait has a time limit of its own: on a busy machine the first may be over before the last begins.
    static void Run(string what, int count, Func<int, bool> wait, Action release, int most = 40)
    {
        int begun = 0, good = 0;
        int before = OsThreads();
        var all = Enumerable.Range(0, count).Select(i => Task.RunAsGreenThread(() => {
            Interlocked.Increment(ref begun);
            if (wait(i)) Interlocked.Increment(ref good);
        })).ToArray();
        while (Volatile.Read(ref begun) < count) Thread.Sleep(1);
        Thread.Sleep(100);
        int more = OsThreads() - before;
        // Where the machine is busy, threads that were begun for calls which took long are still there. Those that a wait keeps do not go.
        for (int round = 0; release != null && more >= most && round < 100; round++) {
            Thread.Sleep(100);
            more = OsThreads() - before;
        }
        if (release == null) most = Math.Max(most, count / 2);
        int early = release == null ? 0 : all.Count(t => t.IsCompleted);
        if (release != null) release();
        if (!Task.WaitAll(all, 60000)) { Console.WriteLine(what + ": " + all.Count(t => !t.IsCompleted) + " still wait"); Environment.Exit(3); }
        Console.WriteLine(what + ": " + (good == count && early == 0 && more < most ? "ok" : good + " good, " + early + " early, " + more + " more OS threads"));
    }

    static Socket Listener(int backlog = 1000)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(backlog);
        return listener;
    }
    static Socket[][] Pairs(int count)
    {
        using (var listener = Listener())
            return Enumerable.Range(0, count).Select(i => {
                var a = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                a.Connect(listener.LocalEndPoint);
                return new[] { a, listener.Accept() };
            }).ToArray();
    }
    static void Close(Socket[][] pairs) { foreach (var s in pairs.SelectMany(p => p)) s.Close(); }

    static void Sockets()
    {
        var pairs = Pairs(Count);
        Action hello = () => { foreach (var p in pairs) p[1].Send(new byte[] { 7 }); };
        Action read = () => { foreach (var p in pairs) p[0].Receive(new byte[1]); };
        Run("poll to read", Count, i => pairs[i][0].Poll(-1, SelectMode.SelectRead), hello); // expect: poll to read: ok
        // The byte is there, and is no error.
        Run("poll for errors", Count, i => !pairs[i][0].Poll(300000, SelectMode.SelectError), null); // expect: poll for errors: ok
        read();
        Run("poll in vain", Count, i => !pairs[i][0].Poll(300000, SelectMode.SelectRead), null); // expect: poll in vain: ok
        Run("select one", Count, i => {
            var list = new List<Socket> { pairs[i][0] };
            Socket.Select(list, null, null, -1);
            return list.Count == 1;
        }, hello); // expect: select one: ok
        read();
        Run("select several", Count, i => {
            var reads = new List<Socket> { pairs[i][0], pairs[(i + 1) % Count][0] };
            var errors = new List<Socket> { pairs[i][0] };
            Socket.Select(reads, null, errors, 20000000);
            return reads.Count >= 1 && errors.Count == 0;
        }, hello); // expect: select several: ok
        read();
        Run("select in vain", Count, i => {
            var reads = new List<Socket> { pairs[i][0], pairs[(i + 1) % Count][0] };
            Socket.Select(reads, null, null, 300000);
            return reads.Count == 0;
        }, null); // expect: select in vain: ok
        // A socket in use is closed when the use is over, as on Mono.
        Run("poll, and the socket is closed", Count, i => !pairs[i][0].Poll(500000, SelectMode.SelectRead),
            () => { foreach (var p in pairs) p[0].Close(); }); // expect: poll, and the socket is closed: ok
        Close(pairs);

        pairs = Pairs(Count);
        foreach (var p in pairs) p[0].SendBufferSize = 1 << 17;
        Run("a large send", Count, i => pairs[i][0].Send(large) == Large, () => {
            foreach (var p in pairs) {
                int left = Large;
                var buffer = new byte[1 << 20];
                while (left > 0) left -= p[1].Receive(buffer);
            }
        }); // expect: a large send: ok
        // Filled, so that nothing more fits. (With one buffer, the class library tries until all is sent. The receiver's buffer grows for a while.)
        var part = new List<ArraySegment<byte>> { new ArraySegment<byte>(large, 0, 1 << 16) };
        Action<Socket> fill = s => {
            s.Blocking = false;
            try { for (;;) s.Send(part); } catch (SocketException) { }
            s.Blocking = true;
        };
        for (int round = 0; round < 5; round++, Thread.Sleep(20)) foreach (var p in pairs) fill(p[0]);
        Run("poll to write", Count, i => { while (pairs[i][0].Poll(500000, SelectMode.SelectWrite)) fill(pairs[i][0]); return true; }, null); // expect: poll to write: ok
        Run("a send in vain", Count, i => {
            pairs[i][0].SendTimeout = 500;
            try { for (;;) pairs[i][0].Send(part); } catch (SocketException e) { return e.SocketErrorCode == SocketError.TimedOut; }
        }, null); // expect: a send in vain: ok
        Close(pairs);

        pairs = Pairs(Count);
        foreach (var p in pairs) p[0].SendBufferSize = 1 << 17;
        var lists = Enumerable.Range(0, 3).Select(i => new ArraySegment<byte>(large)).ToList();
        Run("a large send of buffers", Count, i => pairs[i][0].Send(lists) == 3 * Large, () => {
            foreach (var p in pairs) {
                int left = 3 * Large;
                var buffer = new byte[1 << 20];
                while (left > 0) left -= p[1].Receive(buffer);
            }
        }); // expect: a large send of buffers: ok
        Close(pairs);

        var file = Path.GetTempFileName();
        File.WriteAllBytes(file, large);
        pairs = Pairs(Count);
        foreach (var p in pairs) p[0].SendBufferSize = 1 << 17;
        Run("a file that is sent", Count, i => { pairs[i][0].SendFile(file); pairs[i][0].Close(); return true; }, () => {
            foreach (var p in pairs) {
                int sum = 0, n;
                var buffer = new byte[1 << 20];
                while ((n = p[1].Receive(buffer)) > 0) sum += n;
                if (sum != Large) Console.WriteLine(sum);
            }
        }); // expect: a file that is sent: ok
        File.Delete(file);
        Close(pairs);
    }

    static void Connections()
    {
        // All wait on one listener; each connection wakes all, and one gets it.
        var listener = Listener();
        var accepted = new List<Socket>();
        var made = new List<Socket>();
        Run("accept on one listener", Count, i => { var s = listener.Accept(); lock (accepted) accepted.Add(s); return s.Connected; }, () => {
            for (int i = 0; i < Count; i++) {
                var s = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                s.Connect(listener.LocalEndPoint);
                made.Add(s);
            }
        }); // expect: accept on one listener: ok
        // The listener still blocks for an OS thread, with and without a time limit, and for who asks.
        listener.ReceiveTimeout = 50;
        var watch = Stopwatch.StartNew();
        try { listener.Accept(); } catch (SocketException e) { Console.WriteLine(e.SocketErrorCode + " " + (watch.ElapsedMilliseconds >= 45)); } // expect: WouldBlock True
        listener.ReceiveTimeout = 0;
        Console.WriteLine(Task.RunAsGreenThread(() => {
            listener.Blocking = false;
            try { listener.Accept(); return ""; } catch (SocketException e) { return e.SocketErrorCode.ToString(); }
        }).Result); // expect: WouldBlock
        listener.Blocking = true;
        Run("accept, and the listener is closed", Count, i => {
            try { listener.Accept(); return false; } catch (SocketException) { return true; } catch (ObjectDisposedException) { return true; }
        }, () => listener.Close()); // expect: accept, and the listener is closed: ok
        accepted.Concat(made).ToList().ForEach(s => s.Close());

        // A listener whose queue is full does not answer.
        using (var busy = Listener(1)) {
            var first = Enumerable.Range(0, 4).Select(i => {
                var s = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                s.Blocking = false;
                try { s.Connect(busy.LocalEndPoint); } catch (SocketException) { }
                return s;
            }).ToList();
            Thread.Sleep(20);
            var sockets = Enumerable.Range(0, Count).Select(i => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)).ToArray();
            Run("connect, and the socket is closed", Count, i => {
                try { sockets[i].Connect(busy.LocalEndPoint); return false; } catch (SocketException) { return true; } catch (ObjectDisposedException) { return true; }
            }, () => { foreach (var s in sockets) s.Close(); }); // expect: connect, and the socket is closed: ok
            first.ForEach(s => s.Close());
        }
        Run("connect to nobody", Count, i => {
            // The port is taken, so no other program listens there, and nobody listens.
            using (var taken = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)) {
                taken.Bind(new IPEndPoint(IPAddress.Loopback, 0));
                try { new TcpClient().Connect((IPEndPoint)taken.LocalEndPoint); return false; } catch (SocketException e) { return e.SocketErrorCode == SocketError.ConnectionRefused; }
            }
        }, null); // expect: connect to nobody: ok
        var turn = new ManualResetEvent(false);
        Run("names", Count, i => { turn.WaitOne(); return Dns.GetHostAddresses("localhost").Length > 0; }, () => turn.Set()); // expect: names: ok
    }

    static void Pipes()
    {
        var folder = Path.Combine(Path.GetTempPath(), "waits-" + Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(folder);
        var names = Enumerable.Range(0, Count).Select(i => Path.Combine(folder, i.ToString())).ToArray();
        using (var make = Process.Start("mkfifo", string.Join(" ", names))) make.WaitForExit();
        // (Opened for both, so that neither open waits.)
        Func<string, FileStream> open = name => new FileStream(name, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite, 1);
        var pipes = names.Select(name => new { here = open(name), there = open(name) }).ToArray();
        Run("pipes", Count, i => pipes[i].here.ReadByte() == 5, () => { foreach (var p in pipes) { p.there.WriteByte(5); p.there.Flush(); } }); // expect: pipes: ok
        Run("a large write to a pipe", Count, i => { pipes[i].there.Write(new byte[1 << 18], 0, 1 << 18); return true; }, () => {
            foreach (var p in pipes) {
                var buffer = new byte[1 << 16];
                for (int left = 1 << 18; left > 0; ) left -= p.here.Read(buffer, 0, buffer.Length);
            }
        }); // expect: a large write to a pipe: ok
        // All read from one pipe. (A read that is larger than a FileStream's buffer takes what one write has given.)
        var readers = Enumerable.Range(0, Count).Select(i => open(names[0])).ToArray();
        Run("one pipe", Count, i => readers[i].Read(new byte[64], 0, 64) == 64, () => {
            for (int i = 0; i < Count; i++) { pipes[0].there.Write(new byte[64], 0, 64); pipes[0].there.Flush(); }
        }); // expect: one pipe: ok
        foreach (var r in readers) r.Close();
        var anonymous = Enumerable.Range(0, Count).Select(i => {
            var there = new AnonymousPipeServerStream(PipeDirection.Out);
            return new { there, here = new AnonymousPipeClientStream(PipeDirection.In, there.ClientSafePipeHandle) };
        }).ToArray();
        Run("anonymous pipes", Count, i => anonymous[i].here.ReadByte() == 5, () => { foreach (var p in anonymous) p.there.WriteByte(5); }); // expect: anonymous pipes: ok
        Run("a large write to an anonymous pipe", Count, i => { anonymous[i].there.Write(large, 0, 1 << 18); return true; }, () => {
            foreach (var p in anonymous) {
                var buffer = new byte[1 << 16];
                for (int left = 1 << 18; left > 0; ) left -= p.here.Read(buffer, 0, buffer.Length);
            }
        }); // expect: a large write to an anonymous pipe: ok
        foreach (var p in anonymous) { p.here.Close(); p.there.Close(); }
        foreach (var p in pipes) { p.here.Close(); p.there.Close(); }
        Directory.Delete(folder, true);
    }

    static void Children()
    {
        // (Each has pipes: few enough processes for a small machine.)
        const int processes = 60;
        var children = Enumerable.Range(0, processes).Select(i => Process.Start(new ProcessStartInfo("cat") {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true })).ToArray();
        Run("the ends of processes", 5 * processes, i => { var p = children[i / 5]; p.WaitForExit(); return p.ExitCode == 0; },
            () => { foreach (var p in children) p.StandardInput.Close(); }); // expect: the ends of processes: ok
        var talkers = Enumerable.Range(0, processes).Select(i => Process.Start(new ProcessStartInfo("cat") {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true })).ToArray();
        Run("what processes print", processes, i => talkers[i].StandardOutput.ReadLine() == "hello",
            () => { foreach (var p in talkers) p.StandardInput.WriteLine("hello"); }); // expect: what processes print: ok
        foreach (var p in talkers) { p.StandardInput.Close(); p.WaitForExit(); }
    }

    static void Main()
    {
        Sockets();
        Connections();
        Pipes();
        Children();
    }
}
