// mcs: -r:System.Numerics.dll
// Vector<T> is compiled to instructions on vectors, and says so, as under .NET. Mono says that it is not, and is right.
using System;
using System.Numerics;

static class VectorsAccelerated
{
    static void Main()
    {
        Console.WriteLine("{0} {1}", Vector.IsHardwareAccelerated, Vector<byte>.Count); // expect: True 16
    }
}
