// A thread in a loop of stores is aborted where the program does with SIGTRAP as it likes: blocks it, ignores it, has a handler taken away.
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Node { public Node A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P; }

static class Program {
    const int SIGTRAP = 5, SIG_BLOCK = 0;
    [DllImport("libc")] static extern IntPtr signal(int number, IntPtr handler);
    [DllImport("libc")] static extern int pthread_sigmask(int how, byte[] set, IntPtr old);
    [DllImport("libc")] static extern int sigaddset(byte[] set, int number);
    [DllImport("libc")] static extern int sigemptyset(byte[] set);

    static Node node = new Node();
    static volatile bool entered;
    static bool blocks;

    static void Stores() {
        Node to = node;
        entered = true;
        for (;;) {
            to.A = to; to.B = to; to.C = to; to.D = to; to.E = to; to.F = to; to.G = to; to.H = to;
            to.I = to; to.J = to; to.K = to; to.L = to; to.M = to; to.N = to; to.O = to; to.P = to;
        }
    }
    static void Run() {
        if (blocks) {
            var set = new byte[128];
            sigemptyset(set);
            sigaddset(set, SIGTRAP);
            pthread_sigmask(SIG_BLOCK, set, IntPtr.Zero);
        }
        Stores();
    }
    static void Try(string name, int times) {
        int ended = 0;
        for (int i = 0; i < times; i++) {
            entered = false;
            var thread = new Thread(Run);
            thread.IsBackground = true;
            thread.Start();
            while (!entered) Thread.Sleep(1);
            Thread.Sleep(1);
            thread.Abort();
            // One that blocks the signal may take long.
            if (blocks || thread.Join(20000)) ended++;
        }
        Console.WriteLine("{0}: {1}", name, ended);
    }
    static void Main() {
        Try("as it is", 20);
        Console.WriteLine("before: {0}", signal(SIGTRAP, (IntPtr) 1));
        Try("ignored", 20);
        Console.WriteLine("before: {0}", signal(SIGTRAP, IntPtr.Zero));
        Try("default", 20);
        IntPtr before = signal(SIGTRAP, (IntPtr) 1);
        signal(SIGTRAP, before);
        Try("put back", 20);
        blocks = true;
        Try("blocked", 3);
        Thread.Sleep(100);
        Environment.Exit(0);
    }
}
