// Young objects that only an old object refers to, stored in every way there is; minor collections must find them.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;

sealed class Old
{
    public object Field; public volatile object Volatile; public Pair Struct; public object[] Array = new object[16]; public Pair[] Structs = new Pair[16];
    public object[,] Grid = new object[4, 4]; public Pair[,] StructGrid = new Pair[4, 4]; public KeyValuePair<string, object>? Nullable; public ArrayList List = new ArrayList();
    public static object Static; public static Pair StaticStruct;
    [ThreadStatic] public static object Own;
}
struct Pair { public object A; public int N; public string B; }

static class Barriers
{
    static Old[] olds = new Old[500];
    static readonly List<Action<Old, int>> stores = new List<Action<Old, int>>();
    static readonly List<Func<Old, int, bool>> checks = new List<Func<Old, int, bool>>();
    static void Way(Action<Old, int> store, Func<Old, int, bool> check) { stores.Add(store); checks.Add(check); }

    static string New(int i) { return "young " + i; }
    static bool Is(object o, int i) { return o is string && (string)o == "young " + i; }
    static Pair NewPair(int i) { return new Pair { A = New(i), N = i, B = New(i + 1) }; }
    static bool IsPair(Pair p, int i) { return Is(p.A, i) && p.N == i && Is(p.B, i + 1); }

    static ref object Place(Old o) { return ref o.Array[5]; }
    static ref Pair PairPlace(Old o) { return ref o.Structs[5]; }
    static void Out(out object o, int i) { o = New(i); }
    static void OutPair(out Pair p, int i) { p = NewPair(i); }
    [MethodImpl(MethodImplOptions.NoInlining)] static Pair Return(int i) { return NewPair(i); }
    static void Store<T>(ref T place, T value) { place = value; }
    static void StoreAt<T>(T[] array, int at, T value) { array[at] = value; }

    static object garbage;

    static void Main()
    {
        Way((o, i) => o.Field = New(i), (o, i) => Is(o.Field, i));
        Way((o, i) => o.Volatile = New(i), (o, i) => Is(o.Volatile, i));
        Way((o, i) => Volatile.Write(ref o.Field, New(i)), (o, i) => Is(o.Field, i));
        Way((o, i) => Interlocked.Exchange(ref o.Field, New(i)), (o, i) => Is(o.Field, i));
        Way((o, i) => { o.Field = null; Interlocked.CompareExchange(ref o.Field, New(i), null); }, (o, i) => Is(o.Field, i));
        Way((o, i) => { o.Struct.A = New(i); o.Struct.B = New(i + 1); o.Struct.N = i; }, (o, i) => IsPair(o.Struct, i));
        Way((o, i) => o.Struct = NewPair(i), (o, i) => IsPair(o.Struct, i));
        Way((o, i) => o.Struct = Return(i), (o, i) => IsPair(o.Struct, i));
        Way((o, i) => o.Array[3] = New(i), (o, i) => Is(o.Array[3], i));
        Way((o, i) => o.Structs[3] = NewPair(i), (o, i) => IsPair(o.Structs[3], i));
        Way((o, i) => o.Structs[4].B = New(i), (o, i) => Is(o.Structs[4].B, i));
        Way((o, i) => o.Grid[2, 3] = New(i), (o, i) => Is(o.Grid[2, 3], i));
        Way((o, i) => o.StructGrid[3, 1] = NewPair(i), (o, i) => IsPair(o.StructGrid[3, 1], i));
        Way((o, i) => Place(o) = New(i), (o, i) => Is(o.Array[5], i));
        Way((o, i) => PairPlace(o) = NewPair(i), (o, i) => IsPair(o.Structs[5], i));
        Way((o, i) => Out(out o.Array[6], i), (o, i) => Is(o.Array[6], i));
        Way((o, i) => OutPair(out o.Structs[6], i), (o, i) => IsPair(o.Structs[6], i));
        Way((o, i) => Store(ref o.Field, New(i)), (o, i) => Is(o.Field, i));
        Way((o, i) => Store(ref o.Struct, NewPair(i)), (o, i) => IsPair(o.Struct, i));
        Way((o, i) => StoreAt(o.Structs, 7, NewPair(i)), (o, i) => IsPair(o.Structs[7], i));
        Way((o, i) => StoreAt<object>(o.Array, 7, New(i)), (o, i) => Is(o.Array[7], i));
        Way((o, i) => o.Nullable = new KeyValuePair<string, object>(New(i), New(i)), (o, i) => Is(o.Nullable.Value.Key, i) && Is(o.Nullable.Value.Value, i));
        Way((o, i) => Array.Copy(new object[] { New(i), New(i + 1) }, 0, o.Array, 8, 2), (o, i) => Is(o.Array[8], i) && Is(o.Array[9], i + 1));
        Way((o, i) => Array.Copy(new[] { NewPair(i), NewPair(i + 1) }, 0, o.Structs, 8, 2), (o, i) => IsPair(o.Structs[8], i) && IsPair(o.Structs[9], i + 1));
        Way((o, i) => Array.Copy(new[] { i, i + 1 }, 0, o.Array, 8, 2), (o, i) => (int)o.Array[8] == i && (int)o.Array[9] == i + 1);
        Way((o, i) => new object[] { New(i) }.CopyTo(o.Array, 10), (o, i) => Is(o.Array[10], i));
        Way((o, i) => { o.Array[10] = New(i); Array.Copy(o.Array, 10, o.Array, 11, 3); o.Array[10] = null; }, (o, i) => Is(o.Array[11], i));
        Way((o, i) => { o.Array[0] = New(i); Array.Reverse(o.Array); }, (o, i) => Is(o.Array[15], i));
        Way((o, i) => o.Array.SetValue(New(i), 2), (o, i) => Is(o.Array[2], i));
        Way((o, i) => o.Structs.SetValue(NewPair(i), 2), (o, i) => IsPair(o.Structs[2], i));
        var field = typeof(Old).GetField("Field");
        var structField = typeof(Old).GetField("Struct");
        var staticField = typeof(Old).GetField("Static");
        Way((o, i) => field.SetValue(o, New(i)), (o, i) => Is(o.Field, i));
        Way((o, i) => structField.SetValue(o, NewPair(i)), (o, i) => IsPair(o.Struct, i));
        Way((o, i) => { staticField.SetValue(null, New(i)); o.Field = Old.Static; Old.Static = o; }, (o, i) => Is(o.Field, i));
        Way((o, i) => { o.List.Clear(); for (int k = 0; k < 20; k++) o.List.Add(New(i)); }, (o, i) => Is(o.List[19], i));
        Way((o, i) => { o.Array = (object[])new object[] { New(i), 2 }.Clone(); System.Array.Resize(ref o.Array, 16); }, (o, i) => Is(o.Array[0], i));
        Way((o, i) => { object boxed = NewPair(i); o.Field = boxed; }, (o, i) => IsPair((Pair)o.Field, i));
        Way((o, i) => { Func<string> f = New(i).ToUpper; o.Field = f; }, (o, i) => ((Func<string>)o.Field)() == "YOUNG " + i);
        Way((o, i) => { Func<string> f = () => New(i); o.Field = (Func<string>)Delegate.Combine(f, f); }, (o, i) => ((Func<string>)o.Field)() == "young " + i);
        Way((o, i) => { var t = __makeref(o.Struct); __refvalue(t, Pair) = NewPair(i); }, (o, i) => IsPair(o.Struct, i));
        Way((o, i) => { dynamicStore(o, i); }, (o, i) => Is(o.Array[14], i));

        int wrong = 0;
        for (int i = 0; i < olds.Length; i++) olds[i] = new Old();
        for (int way = 0; way < stores.Count; way++) {
            GC.Collect();
            for (int round = 0; round < 2; round++) {
                for (int i = round; i < olds.Length; i += 2) stores[way](olds[i], i + round * 1000);
                for (int k = 0; k < 3; k++) {
                    for (int g = 0; g < 4000; g++) garbage = "garbage " + g;
                    GC.Collect(0);
                }
                for (int i = round; i < olds.Length; i += 2)
                    if (!checks[way](olds[i], i + round * 1000) && wrong++ < 10) Console.WriteLine("way " + way + " lost object " + i);
            }
        }
        Console.WriteLine(stores.Count + " ways, " + wrong + " lost");      // expect: 40 ways, 0 lost

        // Statics of both kinds, after they are old.
        GC.Collect();
        for (int i = 0; i < 50; i++) {
            Old.Static = New(i); Old.StaticStruct = NewPair(i); Old.Own = New(i);
            for (int g = 0; g < 3000; g++) garbage = new object[3];
            GC.Collect(0);
            if (!Is(Old.Static, i) || !IsPair(Old.StaticStruct, i) || !Is(Old.Own, i)) wrong++;
        }
        Console.WriteLine(wrong);                                           // expect: 0
    }
    static void dynamicStore(Old o, int i) { foreach (var at in new[] { 12, 13, 14 }) { object t = New(i); o.Array[at] = t; t = null; } }
}
