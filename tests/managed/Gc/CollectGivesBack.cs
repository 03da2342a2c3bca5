// gc-debug: no, it counts pages
// GC.Collect gives memory back, also if a cycle that allocation has asked for is under way when the program asks.
using System;
using System.IO;
using System.Threading;

static class CollectGivesBack
{
    sealed class Node { public Node Next; public long A, B, C; }
    static object keep;
    static long Resident()
    {
        foreach (var line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith("VmRSS")) return long.Parse(line.Substring(6).Replace("kB", "").Trim()) >> 10;
        return 0;
    }
    static void Fill(int megabytes)
    {
        var thread = new Thread(() => {
            Node head = null;
            for (int i = 0; i < megabytes * 22000; i++) head = new Node { Next = head };
            keep = head;
        });
        thread.Start();
        thread.Join();
    }
    static void Main()
    {
        int more = 0;
        for (int round = 0; round < 6; round++) {
            Fill(200);
            keep = null;
            GC.Collect();
            if (Resident() > 130) more++;
        }
        Console.WriteLine(more); // expect: 0
    }
}
