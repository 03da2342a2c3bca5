// grafts:
// timeout: 120
// Waits that leave nothing on the native stack: more threads wait in each way than there can be native stacks, what they have in their locals survives, and
// waits end as they should: by the deadline, an interrupt, an abort, with the monitor as often entered as before.
using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

class Reentry {
    const int Many = 20000;
    static int sum, ready;

    static void Mix(int i, Action wait) {
        // More values than there are registers that a call preserves.
        int a = i, b = i * 3, c = i ^ 0x55, d = i + 7, e = ~i, f = i << 2;
        object o = new int[] { i };
        double x = i / 2.0;
        wait();
        bool same = a == i && b == i * 3 && c == (i ^ 0x55) && d == i + 7 && e == ~i && f == i << 2 && ((int[]) o)[0] == i && x == i / 2.0;
        if (same) Interlocked.Increment(ref sum);
    }

    // Starts `count` threads that wait, waits until `waiting` says so, lets them go.
    static void Run(string name, int count, Action<int> wait, Func<bool> waiting, Action go) {
        sum = ready = 0;
        var tasks = new Task[count];
        for (int i = 0; i < count; i++) {
            int n = i;
            tasks[i] = Task.RunAsGreenThread(() => Mix(n, () => { Interlocked.Increment(ref ready); wait(n); }));
        }
        while (Volatile.Read(ref ready) < count || !waiting()) Thread.Sleep(5);
        Thread.Sleep(20);
        go();
        Task.WaitAll(tasks);
        Console.WriteLine("{0}: {1}", name, sum == count ? "all" : sum + " of " + count);
    }

    static void Kinds() {
        object gate = new object(), pulse = new object();
        Monitor.Enter(gate);
        Run("enter", Many, n => { lock (gate) { } }, () => true, () => Monitor.Exit(gate));

        int waiting = 0;
        bool open = false;
        Run("wait", Many, n => {
            lock (pulse) lock (pulse) {
                waiting++;
                while (!open) Monitor.Wait(pulse);
                waiting--;
            }
        }, () => { lock (pulse) return waiting == Many; }, () => { lock (pulse) { open = true; Monitor.PulseAll(pulse); } });
        Console.WriteLine("left: {0} {1}", waiting, Monitor.IsEntered(pulse));

        Run("sleep", Many, n => Thread.Sleep(300), () => true, () => { });

        var ended = new ManualResetEvent(false);
        Run("event", Many, n => ended.WaitOne(), () => true, () => ended.Set());
        var other = new AutoResetEvent(false);
        ended.Reset();
        Run("any", 2000, n => { if (WaitHandle.WaitAny(new WaitHandle[] { other, ended }) != 1) throw new Exception("any"); }, () => true, () => ended.Set());

        var late = new Thread(() => Thread.Sleep(400));
        late.Start();
        Run("join", Many, n => { if (!late.Join(60000)) throw new Exception("join"); }, () => true, () => { });

        Run("yield", Many, n => { for (int i = 0; i < 5; i++) Thread.Yield(); Thread.Sleep(0); }, () => true, () => { });

        var slim = new SemaphoreSlim(0);
        Run("semaphore", Many, n => slim.Wait(), () => true, () => slim.Release(Many));
    }

    static void Sockets() {
        const int Count = 200;
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var here = new List<Socket>();
        var there = new List<Socket>();
        for (int i = 0; i < Count; i++) {
            var s = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            s.Connect(listener.LocalEndpoint);
            here.Add(s);
            there.Add(listener.AcceptSocket());
        }
        Run("receive", Count, n => {
            var buffer = new byte[8];
            for (int round = 0; round < 3; round++) {
                int got = here[n].Receive(buffer);
                if (got != 4 || buffer[0] != (byte) n) throw new Exception("receive");
                here[n].Send(buffer, 4, SocketFlags.None);
            }
        }, () => true, () => {
            var buffer = new byte[8];
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < Count; i++) there[i].Send(new byte[] { (byte) i, 1, 2, 3 });
                for (int i = 0; i < Count; i++) {
                    int got = 0;
                    while (got < 4) got += there[i].Receive(buffer);
                }
            }
        });
        // More than the socket has room for: all of it arrives, in order.
        var big = new byte[20 << 20];
        for (int i = 0; i < big.Length; i++) big[i] = (byte) (i * 7 + (i >> 11));
        var sender = Task.RunAsGreenThread(() => here[0].Send(big));
        int at = 0;
        bool right = true;
        var part = new byte[100000];
        while (at < big.Length) {
            int got = there[0].Receive(part);
            for (int i = 0; i < got; i++) right &= part[i] == big[at + i];
            at += got;
        }
        Console.WriteLine("sent: {0} {1}", sender.Result == big.Length, right);
        here[1].ReceiveTimeout = 50;
        var timed = Task.RunAsGreenThread(() => {
            try { here[1].Receive(new byte[4]); return "received"; }
            catch (SocketException e) { return e.SocketErrorCode.ToString(); }
        });
        Console.WriteLine("time-out: {0}", timed.Result);
        // Closing ends the wait.
        var closed = Task.RunAsGreenThread(() => {
            try { here[2].Receive(new byte[4]); return "received"; }
            catch (SocketException) { return "ended"; }
            catch (ObjectDisposedException) { return "ended"; }
        });
        Thread.Sleep(50);
        here[2].Close();
        Console.WriteLine("closed: {0}", closed.Result);
        listener.Stop();
    }

    static string Ending(Action work) {
        string how = "";
        Thread self = null;
        var task = Task.RunAsGreenThread(() => {
            self = Thread.CurrentThread;
            try { work(); how += "returned"; }
            catch (ThreadInterruptedException) { how += "interrupted"; }
            catch (ThreadAbortException) { how += "aborted"; Thread.ResetAbort(); }
            // The next wait is as any other.
            Thread.Sleep(1);
            how += (self.ThreadState & ThreadState.WaitSleepJoin) == 0 ? "" : " still waiting";
        });
        while (self == null || (self.ThreadState & ThreadState.WaitSleepJoin) == 0) {
            if (task.IsCompleted) break;
            Thread.Sleep(1);
        }
        how += "waits, ";
        return End(task, self, ref how);
    }
    static Action<Thread> end;
    static string End(Task task, Thread self, ref string how) {
        end(self);
        task.Wait();
        return how;
    }

    static void Endings() {
        object taken = new object(), pulse = new object();
        var never = new ManualResetEvent(false);
        var forever = new Thread(() => never.WaitOne()) { IsBackground = true };
        forever.Start();
        var waits = new KeyValuePair<string, Action>[] {
            new KeyValuePair<string, Action>("enter", () => { lock (taken) { } }),
            new KeyValuePair<string, Action>("wait", () => { lock (pulse) lock (pulse) {
                try { Monitor.Wait(pulse); } finally { if (!Monitor.IsEntered(pulse)) Console.WriteLine("not entered"); }
            } }),
            new KeyValuePair<string, Action>("sleep", () => Thread.Sleep(Timeout.Infinite)),
            new KeyValuePair<string, Action>("join", () => forever.Join()),
            new KeyValuePair<string, Action>("event", () => never.WaitOne()),
        };
        lock (taken) {
            foreach (var way in new string[] { "interrupt", "abort" }) {
                end = t => { if (way == "interrupt") t.Interrupt(); else t.Abort(); };
                foreach (var wait in waits) Console.WriteLine("{0} {1}: {2}", way, wait.Key, Ending(wait.Value));
            }
        }
        Console.WriteLine("pulse is free: {0}", Monitor.TryEnter(pulse));
        // A deadline of a wait that was left and made again counts from its beginning.
        var ends = Task.RunAsGreenThread(() => {
            var clock = System.Diagnostics.Stopwatch.StartNew();
            bool got;
            lock (taken) got = Monitor.Wait(taken, 150);
            bool pulsed = got, entered = false, set = never.WaitOne(100), joined = forever.Join(100);
            var other = new Thread(() => { lock (taken) { ready = -1; Thread.Sleep(400); } });
            other.Start();
            while (Volatile.Read(ref ready) != -1) Thread.Sleep(1);
            Monitor.TryEnter(taken, 100, ref entered);
            other.Join();
            long ms = clock.ElapsedMilliseconds;
            return string.Format("{0} {1} {2} {3} {4}", pulsed, set, joined, entered, ms >= 440 && ms < 20000);
        });
        Console.WriteLine("deadlines: {0}", ends.Result);
    }

    static void Main() {
        Kinds();
        Sockets();
        Endings();
    }
}
