// Loops whose instructions nearly all belong to a store and its card mark, to an exchange, or to a monitor: each can be aborted.
using System;
using System.Threading;

class Node { public Node A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P; }

static class Program {
    static Node node = new Node(), other = new Node();
    static Node s1, s2, s3, s4;
    static volatile bool entered;

    static void Fields() {
        Node to = node, value = node;
        entered = true;
        for (;;) {
            to.A = value; to.B = value; to.C = value; to.D = value;
            to.E = value; to.F = value; to.G = value; to.H = value;
            to.I = value; to.J = value; to.K = value; to.L = value;
            to.M = value; to.N = value; to.O = value; to.P = value;
        }
    }
    static void Statics() {
        Node value = other;
        entered = true;
        for (;;) { s1 = value; s2 = value; s3 = value; s4 = value; }
    }
    static void Exchanges() {
        Node value = other;
        entered = true;
        for (;;) {
            Interlocked.Exchange(ref node.A, value);
            Interlocked.Exchange(ref node.B, value);
            Interlocked.Exchange(ref node.C, value);
            Interlocked.Exchange(ref node.D, value);
        }
    }
    static void Compares() {
        Node value = other;
        entered = true;
        while (Interlocked.CompareExchange(ref s1, value, node) != node) { }
    }
    static void Monitors() {
        object gate = node;
        entered = true;
        for (;;) { Monitor.Enter(gate); Monitor.Exit(gate); }
    }

    static void Try(ThreadStart loop) {
        int ended = 0;
        for (int i = 0; i < 200; i++) {
            entered = false;
            var thread = new Thread(loop);
            thread.Start();
            while (!entered) Thread.Sleep(1);
            Thread.Sleep(1);
            thread.Abort();
            if (thread.Join(20000)) ended++;
        }
        Console.WriteLine("{0}: {1} of 200", loop.Method.Name, ended);
    }

    static void Main() {
        Try(Fields);
        Try(Statics);
        Try(Exchanges);
        Try(Compares);
        Try(Monitors);
    }
}
