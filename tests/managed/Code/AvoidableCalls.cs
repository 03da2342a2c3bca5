// Methods that append, and call another to make room, are inlined with that call: its exceptions, its effects and its traces stay where they were.
using System;
using System.Runtime.CompilerServices;

class Buffer
{
    int[] items = new int[2];
    int count, grown;
    // One call, on one path, in a body that is too long to keep others.
    public Buffer Append(int item)
    {
        if (count < items.Length)
            items[count++] = item;
        else
            Grow(item, 1);
        return this;
    }
    // The call is on every path.
    public int AppendAndCheck(int item)
    {
        if (count >= items.Length && item >= 0)
            count = items.Length - 1;
        items[count++] = item;
        return Check(item) + count + item;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    void Grow(int item, int n)
    {
        if (items.Length >= 64) throw new InvalidOperationException("full at " + count);
        Array.Resize(ref items, items.Length * 2);
        grown += n;
        items[count++] = item;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    int Check(int item) { if (item < 0) throw new ArgumentOutOfRangeException("item"); return 0; }
    public override string ToString() { int s = 0; for (int i = 0; i < count; i++) s += items[i]; return count + " " + grown + " " + s; }
}

static class AvoidableCalls
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill(Buffer b, int n) { for (int i = 0; i < n; i++) b.Append(i).Append(-i).Append(1); }

    static void Main()
    {
        var b = new Buffer();
        Fill(b, 5);
        Console.WriteLine(b); // expect: 15 3 5
        try { Fill(b, 100); } catch (InvalidOperationException e) {
            Console.WriteLine(e.Message); // expect: full at 64
            var lines = e.StackTrace.Split('\n');
            Console.WriteLine(lines[0].Contains("Grow") && lines[1].Contains("Append") && lines[2].Contains("Fill")); // expect: True
        }
        Console.WriteLine(b); // expect: 64 5 37
        Console.WriteLine(b.AppendAndCheck(7)); // expect: 71
        try { new Buffer().AppendAndCheck(-1); } catch (ArgumentOutOfRangeException e) { Console.WriteLine(e.ParamName); } // expect: item
        Buffer none = null;
        try { Fill(none, 1); } catch (NullReferenceException) { Console.WriteLine("null"); } // expect: null
    }
}
