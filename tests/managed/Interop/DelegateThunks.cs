// The thunks by which native code calls delegates are used again when the delegates are gone; one whose delegate lives is not.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class DelegateThunks
{
    delegate int Number(int x);
    delegate int OtherNumber(int x);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeAndDrop(HashSet<long> addresses, int n)
    {
        for (int i = 0; i < n; i++)
        {
            int captured = i;
            Number made = x => x + captured;
            IntPtr address = Marshal.GetFunctionPointerForDelegate(made);
            addresses.Add(address.ToInt64());
            if (Marshal.GetFunctionPointerForDelegate(made) != address) Console.WriteLine("another address");
            if (!ReferenceEquals(Marshal.GetDelegateForFunctionPointer(address, typeof(Number)), made)) Console.WriteLine("another delegate");
        }
    }

    static void Main()
    {
        var kept = new List<Number>();
        var keptAddresses = new List<IntPtr>();
        for (int i = 0; i < 500; i++)
        {
            int captured = 1000 * i;
            kept.Add(x => x + captured);
            keptAddresses.Add(Marshal.GetFunctionPointerForDelegate(kept[i]));
        }
        OtherNumber other = x => -x;
        IntPtr otherAddress = Marshal.GetFunctionPointerForDelegate(other);
        var addresses = new HashSet<long>();
        for (int round = 0; round < 40; round++)
        {
            MakeAndDrop(addresses, 1000);
            GC.Collect();
        }
        Console.WriteLine(addresses.Count < 10000); // expect: True
        bool right = true, separate = true;
        for (int i = 0; i < kept.Count; i++)
        {
            right &= ReferenceEquals(Marshal.GetDelegateForFunctionPointer(keptAddresses[i], typeof(Number)), kept[i]);
            separate &= !addresses.Contains(keptAddresses[i].ToInt64());
        }
        Console.WriteLine(right + " " + separate); // expect: True True
        Console.WriteLine(!addresses.Contains(otherAddress.ToInt64())); // expect: True
        // Several threads ask for the thunk of one delegate at a time.
        for (int round = 0; round < 200; round++)
        {
            Number shared = x => x + round;
            var seen = new IntPtr[4];
            var threads = new Thread[4];
            for (int t = 0; t < 4; t++)
            {
                int own = t;
                threads[t] = new Thread(() => seen[own] = Marshal.GetFunctionPointerForDelegate(shared));
            }
            foreach (var t in threads) t.Start();
            foreach (var t in threads) t.Join();
            for (int t = 1; t < 4; t++) if (seen[t] != seen[0]) Console.WriteLine("two thunks");
            GC.KeepAlive(shared);
        }
        GC.KeepAlive(other);
        Console.WriteLine("end"); // expect: end
    }
}
