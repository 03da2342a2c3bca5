// Statics, thread statics, generic statics, statics of structs: each keeps its object, in every thread, through
// collections of both kinds.
using System;
using System.Collections.Generic;
using System.Threading;

struct Held { public object A; public int Number; public string B; }

static class Holder<T>
{
    public static object Value;
    public static Held Struct;
    [ThreadStatic] public static T Own;
}

static class Roots
{
    static object one;
    static Held two;
    static Held[] three;
    static readonly string four = "four".ToUpper();
    static int? five;
    static KeyValuePair<string, object> six;
    [ThreadStatic] static object own;
    [ThreadStatic] static Held ownStruct;
    [ThreadStatic] static int number;
    [ThreadStatic] static List<string> ownList;

    static object garbage;
    static void Churn()
    {
        for (int i = 0; i < 30000; i++) garbage = new object[i % 9];
        GC.Collect(0);
        for (int i = 0; i < 30000; i++) garbage = "x" + i;
        GC.Collect();
    }
    static string Made(string s) { return new string(s.ToCharArray()); }

    static int bad;
    static void InThread(int me)
    {
        own = Made("own " + me);
        ownStruct = new Held { A = Made("a" + me), Number = me, B = Made("b" + me) };
        number = me;
        ownList = new List<string>();
        Holder<string>.Own = Made("string " + me);
        Holder<Held>.Own = new Held { A = me, B = Made("held " + me) };
        LocalDataStoreSlot slot = Thread.GetNamedDataSlot("slot");
        Thread.SetData(slot, Made("slot " + me));
        for (int round = 0; round < 10; round++) {
            ownList.Add(Made("round " + round));
            for (int i = 0; i < 3000; i++) { object o = new object[i % 9]; }
            if (round % 3 == me % 3) GC.Collect(round % 2);
            else Thread.Sleep(1);
        }
        bool right = (string)own == "own " + me && (string)ownStruct.A == "a" + me && ownStruct.Number == me && ownStruct.B == "b" + me
            && number == me && Holder<string>.Own == "string " + me && (int)Holder<Held>.Own.A == me && Holder<Held>.Own.B == "held " + me
            && (string)Thread.GetData(slot) == "slot " + me;
        for (int round = 0; round < 10; round++) right &= ownList[round] == "round " + round;
        if (!right) Interlocked.Increment(ref bad);
    }

    static void Main()
    {
        one = Made("one");
        two = new Held { A = Made("two a"), Number = 2, B = Made("two b") };
        three = new Held[100];
        for (int i = 0; i < three.Length; i++) three[i] = new Held { A = Made("a" + i), Number = i, B = Made("b" + i) };
        five = 5;
        six = new KeyValuePair<string, object>(Made("six"), Made("6"));
        Holder<int>.Value = Made("int");
        Holder<string>.Value = Made("string");
        Holder<object>.Value = Made("object");
        Holder<Held>.Struct.A = Made("struct");
        own = Made("main");
        for (int i = 0; i < 4; i++) Churn();
        Console.WriteLine(one + " " + two.A + " " + two.Number + " " + two.B);      // expect: one two a 2 two b
        bool right = true;
        for (int i = 0; i < three.Length; i++) right &= (string)three[i].A == "a" + i && three[i].Number == i && three[i].B == "b" + i;
        Console.WriteLine(right + " " + four + " " + five + " " + six);             // expect: True FOUR 5 [six, 6]
        Console.WriteLine(Holder<int>.Value + " " + Holder<string>.Value + " " + Holder<object>.Value + " " + Holder<Held>.Struct.A);  // expect: int string object struct

        for (int round = 0; round < 5; round++) {
            var threads = new Thread[8];
            for (int i = 0; i < threads.Length; i++) { int me = round * 10 + i; threads[i] = new Thread(() => InThread(me)); }
            foreach (var t in threads) t.Start();
            foreach (var t in threads) t.Join();
        }
        Console.WriteLine(bad + " " + own);                                         // expect: 0 main

        // What an ended thread's statics held is garbage.
        var weak = new WeakReference[50];
        for (int i = 0; i < weak.Length; i++) {
            int me = i;
            var t = new Thread(() => { own = new object[10]; weak[me] = new WeakReference(own); });
            t.Start();
            t.Join();
        }
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        int alive = 0;
        foreach (var w in weak) if (w.IsAlive) alive++;
        Console.WriteLine(alive <= 5);                                              // expect: True
    }
}
