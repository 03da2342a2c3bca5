// grafts:
// Green threads that are parked through many collections keep what they refer to: on their stacks, in thread statics, in arguments, in what is
// started and has not begun. Some go on now and then and refer to something else then.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

static class Parked
{
    class Node { public Node next; public int value; public string text; }

    [ThreadStatic] static Node own;
    static int wrong, begun;

    static Node Make(int value)
    {
        return new Node { value = value, text = "node " + value, next = new Node { value = -value, text = value.ToString() } };
    }
    static void Check(Node node, int value)
    {
        if (node.value != value || node.text != "node " + value || node.next.value != -value || node.next.text != value.ToString())
            Interlocked.Increment(ref wrong);
    }

    // Frames between the objects and the wait.
    static void Deep(int depth, Node held, Action wait)
    {
        if (depth == 0) { wait(); return; }
        var mine = Make(depth);
        Deep(depth - 1, mine, wait);
        Check(mine, depth);
        if (depth > 1 && held == null) Interlocked.Increment(ref wrong);
    }

    static int Work(int number, int rounds, SemaphoreSlim[] turns)
    {
        own = Make(number);
        var held = Make(number + 1);
        Interlocked.Increment(ref begun);
        for (int i = 0; i < rounds; i++) {
            int round = i;
            Deep(3 + number % 5, held, () => turns[round].Wait());
            Check(held, number + 1 + i);
            Check(own, number);
            held = Make(number + 2 + i);
        }
        return number;
    }

    static void Collect(int times, bool all)
    {
        for (int i = 0; i < times; i++) {
            var garbage = new object[64];
            for (int k = 0; k < 4000; k++) garbage[k % 64] = Make(k);
            if (all) GC.Collect(); else GC.Collect(0);
        }
    }

    static void Main()
    {
        const int count = 600, rounds = 4;
        var turns = new SemaphoreSlim[rounds];
        for (int i = 0; i < rounds; i++) turns[i] = new SemaphoreSlim(0);
        var tasks = new List<Task<int>>();
        for (int i = 0; i < count; i++) {
            int number = i * 10;
            tasks.Add(Task.RunAsGreenThread(() => Work(number, rounds, turns)));
            if (i % 200 == 0) Collect(1, false);
        }
        while (Volatile.Read(ref begun) < count) Thread.Sleep(1);
        for (int round = 0; round < rounds; round++) {
            Collect(4, false);
            // A few go on before the others, and wait again.
            turns[round].Release(count / 20);
            Thread.Sleep(5);
            Collect(3, false);
            Collect(1, true);
            turns[round].Release(count - count / 20);
            Thread.Sleep(5);
        }
        int sum = 0;
        foreach (var task in tasks) sum += task.Result / 10;
        Console.WriteLine(sum); // expect: 179700
        // Records are used again, with the objects of the threads before; some have not begun while the collector runs.
        for (int i = 0; i < 10; i++) {
            tasks.Clear();
            for (int k = 0; k < 300; k++) {
                var argument = Make(k);
                int number = k;
                tasks.Add(Task.RunAsGreenThread(() => { Check(argument, number); Thread.Yield(); return number; }));
            }
            Collect(1, i % 3 == 0);
            Task.WaitAll(tasks.ToArray());
        }
        Console.WriteLine(wrong); // expect: 0
    }
}
