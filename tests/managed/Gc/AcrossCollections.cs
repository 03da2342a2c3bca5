// What a header carries moves with its object: identity hashes, locks held and free, with and without a fat monitor.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

static class AcrossCollections
{
    static object[] objects = new object[20000];
    static int[] hashes = new int[objects.Length];
    static object garbage;
    static void Churn(int generation) { for (int i = 0; i < 20000; i++) garbage = new object[i % 7]; GC.Collect(generation); }

    static void Main()
    {
        for (int i = 0; i < objects.Length; i++) {
            objects[i] = i % 4 == 0 ? new object() : i % 4 == 1 ? (object)new int[i % 50] : i % 4 == 2 ? (object)new string('x', i % 30) : new List<int>();
            if (i % 2 == 0) hashes[i] = RuntimeHelpers.GetHashCode(objects[i]);
            if (i % 3 == 0) lock (objects[i]) { }
        }
        int wrong = 0;
        for (int round = 0; round < 8; round++) {
            Churn(round % 3 == 2 ? 1 : 0);
            for (int i = 0; i < objects.Length; i++) {
                int h = RuntimeHelpers.GetHashCode(objects[i]);
                if (hashes[i] != 0 && hashes[i] != h) wrong++;
                hashes[i] = h;
                if (i % 5 == round % 5) lock (objects[i]) if (!Monitor.IsEntered(objects[i]) || RuntimeHelpers.GetHashCode(objects[i]) != h) wrong++;
                if (Monitor.IsEntered(objects[i])) wrong++;
            }
        }
        Console.WriteLine(wrong);                               // expect: 0

        // Held while it collects: recursively, after hashing, with a waiter.
        var plain = new object();
        var hashed = new object();
        int hash = RuntimeHelpers.GetHashCode(hashed);
        bool entered = false;
        Thread waiter;
        lock (plain) lock (hashed) {
            lock (plain) {
                waiter = new Thread(() => { lock (plain) entered = true; });
                waiter.Start();
                Thread.Sleep(50);
                for (int i = 0; i < 6; i++) Churn(i % 2);
                Console.WriteLine(Monitor.IsEntered(plain) + " " + Monitor.IsEntered(hashed) + " " + entered);  // expect: True True False
                Console.WriteLine(hash == RuntimeHelpers.GetHashCode(hashed));  // expect: True
            }
            Console.WriteLine(Monitor.IsEntered(plain));        // expect: True
        }
        waiter.Join();
        Console.WriteLine(entered + " " + Monitor.IsEntered(plain));    // expect: True False

        // A waiting thread is woken though the object it waits on has moved.
        var box = new object[1] { new object() };
        bool ready = false, woken = false;
        var t = new Thread(() => { lock (box[0]) { ready = true; while (!woken) Monitor.Wait(box[0]); } });
        t.Start();
        while (!Volatile.Read(ref ready)) Thread.Sleep(1);
        for (int i = 0; i < 4; i++) Churn(i % 2);
        lock (box[0]) { woken = true; Monitor.PulseAll(box[0]); }
        Console.WriteLine(t.Join(10000));                       // expect: True

        // A dictionary keyed by identity, filled before and read after.
        var map = new Dictionary<object, int>();
        for (int i = 0; i < objects.Length; i += 4) map[objects[i]] = i;
        Churn(0); Churn(1);
        wrong = 0;
        for (int i = 0; i < objects.Length; i += 4) { int v; if (!map.TryGetValue(objects[i], out v) || v != i) wrong++; }
        Console.WriteLine(wrong);                               // expect: 0

        // Very many monitors that are dead afterwards: their entries are used again.
        for (int round = 0; round < 10; round++) {
            var some = new object[20000];
            for (int i = 0; i < some.Length; i++) { some[i] = new object(); RuntimeHelpers.GetHashCode(some[i]); lock (some[i]) hash ^= RuntimeHelpers.GetHashCode(some[i]); }
            Churn(1);
            foreach (var o in some) lock (o) { }
        }
        Console.WriteLine("done");                              // expect: done
    }
}
