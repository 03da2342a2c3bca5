// What is pinned keeps its address and its content through collections: by handle, by `fixed`, in great numbers.
using System;
using System.Runtime.InteropServices;

static unsafe class Pinned
{
    [StructLayout(LayoutKind.Sequential)]
    sealed class Blittable { public int A; public long B; public double C; }

    static object garbage;
    static void Churn()
    {
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 20000; i++) garbage = new byte[i % 100];
            GC.Collect(round == 4 ? 1 : 0);
        }
    }

    static void Main()
    {
        var array = new int[100];
        for (int i = 0; i < array.Length; i++) array[i] = i;
        var handle = GCHandle.Alloc(array, GCHandleType.Pinned);
        int* p = (int*)handle.AddrOfPinnedObject();
        Churn();
        Console.WriteLine(handle.AddrOfPinnedObject() == (IntPtr)p);                            // expect: True
        Console.WriteLine(Marshal.UnsafeAddrOfPinnedArrayElement(array, 3) == (IntPtr)(p + 3)); // expect: True
        for (int i = 0; i < array.Length; i++) p[i] *= 2;
        Churn();
        bool right = true;
        for (int i = 0; i < array.Length; i++) right &= array[i] == i * 2;
        Console.WriteLine(right);                                                               // expect: True
        handle.Free();
        Churn();
        Console.WriteLine(array[99]);                                                           // expect: 198

        var text = new string('q', 50);
        handle = GCHandle.Alloc(text, GCHandleType.Pinned);
        char* c = (char*)handle.AddrOfPinnedObject();
        Churn();
        Console.WriteLine(c[0] == 'q' && c[49] == 'q' && c[50] == 0);                           // expect: True
        handle.Free();

        var b = new Blittable { A = 1, B = 2, C = 3 };
        handle = GCHandle.Alloc(b, GCHandleType.Pinned);
        var q = handle.AddrOfPinnedObject();
        Churn();
        Console.WriteLine(handle.AddrOfPinnedObject() == q && *(int*)q == 1);                   // expect: True
        *(int*)q = 77;
        Console.WriteLine(b.A);                                                                 // expect: 77
        handle.Free();

        object boxed = 42L;
        handle = GCHandle.Alloc(boxed, GCHandleType.Pinned);
        Churn();
        Console.WriteLine(*(long*)handle.AddrOfPinnedObject());                                 // expect: 42
        handle.Free();

        fixed (int* f = array) {
            IntPtr before = (IntPtr)f;
            Churn();
            fixed (int* g = array) Console.WriteLine(before == (IntPtr)g && f[99] == 198);      // expect: True
        }
        fixed (char* f = text) {
            Churn();
            Console.WriteLine(f[49]);                                                           // expect: q
        }

        // Thousands of pinned objects of many sizes among garbage.
        var handles = new GCHandle[5000];
        var addresses = new IntPtr[handles.Length];
        for (int i = 0; i < handles.Length; i++) {
            for (int k = 0; k < 20; k++) garbage = new byte[k * 7];
            var bytes = new byte[i % 300 + 1];
            for (int k = 0; k < bytes.Length; k++) bytes[k] = (byte)(i + k);
            handles[i] = GCHandle.Alloc(bytes, GCHandleType.Pinned);
            addresses[i] = handles[i].AddrOfPinnedObject();
        }
        Churn();
        right = true;
        for (int i = 0; i < handles.Length; i++) {
            var bytes = (byte[])handles[i].Target;
            right &= handles[i].AddrOfPinnedObject() == addresses[i] && bytes.Length == i % 300 + 1;
            for (int k = 0; k < bytes.Length; k++) right &= bytes[k] == (byte)(i + k) && ((byte*)addresses[i])[k] == bytes[k];
            if (i % 2 == 0) handles[i].Free();
        }
        Churn();
        for (int i = 1; i < handles.Length; i += 2) {
            right &= handles[i].AddrOfPinnedObject() == addresses[i] && *(byte*)addresses[i] == (byte)i;
            handles[i].Free();
        }
        Console.WriteLine(right);                                                               // expect: True

        // A large array stays where it is as well.
        var large = new long[100000];
        fixed (long* f = large) {
            for (int i = 0; i < large.Length; i++) f[i] = i;
            Churn();
            fixed (long* g = large) Console.WriteLine(f == g && g[99999] == 99999);             // expect: True
        }
    }
}
