// mcs: -r:System.Numerics.dll -r:Mono.Simd.dll -nowarn:618
// Vectors that are constructed in place while an older value of the variable is an operand, and constructors that throw: they leave zero. Shifts by more bits than a lane has.
// The results are mono's, but for one: where a struct of Mono.Simd is constructed in place its own instructions change the operand too (-O=-simd does not).
using System;
using System.Numerics;
using System.Runtime.CompilerServices;
using Mono.Simd;

struct Holder { public Vector<int> V; public Holder(int[] a, int i) { V = new Vector<int>(a, i); } }

static class VectorsInPlace
{
    [MethodImpl(MethodImplOptions.NoInlining)] static Vector<int> Sum(Vector<int> v) { return v + (v = new Vector<int>(100)); }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Dot(Vector<int> v) { return Vector.Dot(v, v = new Vector<int>(2)); }
    [MethodImpl(MethodImplOptions.NoInlining)] static Vector<int> Or(Vector<int> v, int[] a, int i) { v |= (v = new Vector<int>(a, i)); return v; }
    [MethodImpl(MethodImplOptions.NoInlining)] static string Both(Vector<int> a, Vector<int> b) { return a + "|" + b; }
    [MethodImpl(MethodImplOptions.NoInlining)] static string Passed() { var v = new Vector<int>(5); return Both(v, v = new Vector<int>(100)); }
    [MethodImpl(MethodImplOptions.NoInlining)] static Vector4f Simd(Vector4f v) { return v - (v = new Vector4f(1)); }
    static Vector<int> Set(ref Vector<int> r, int x) { r = new Vector<int>(x); return r; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Vector<int> ByReference(Vector<int> v) { return v + Set(ref v, 100); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Vector<int> Thrown(int[] a, int i) { var v = new Vector<int>(5); try { v = new Vector<int>(a, i); } catch (Exception) { } return v; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static Vector<int> ThrownAt(ref Vector<int> v, int[] a, int i) { v = new Vector<int>(5); try { v = new Vector<int>(a, i); } catch (Exception) { } return v; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static Vector<int> ThrownInElement(int[] a, int i) { var h = new Holder[2]; h[1].V = new Vector<int>(5); try { h[1].V = new Vector<int>(a, i); } catch (Exception) { } return h[1].V; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static Vector<int> ThrownInStruct(int[] a, int i) { var h = new Holder(); h.V = new Vector<int>(5); try { h = new Holder(a, i); } catch (Exception) { } return h.V; }

    static void Main()
    {
        var a = new[] { 1, 2, 3, 4, 5, 6 };
        for (int round = 0; round < 2; round++) {
            Console.WriteLine("{0} {1} {2}", Sum(new Vector<int>(5)), Dot(new Vector<int>(9)), Or(new Vector<int>(8), a, 1));
            Console.WriteLine("{0} {1} {2}", Passed(), Simd(new Vector4f(5)), ByReference(new Vector<int>(5)));
            foreach (int i in new[] { 2, 3, -1 }) {
                var v = Vector<int>.One;
                Console.WriteLine("{0} {1} {2} {3}", Thrown(a, i), ThrownAt(ref v, a, i), ThrownInElement(a, i), ThrownInStruct(a, i));
            }
            Console.WriteLine("{0} {1}", Thrown(null, 0), Thrown(new int[3], 0));
            var x = new Vector4i(0x12345678, -5, int.MinValue, 77);
            Console.WriteLine("{0} {1} {2} {3}", x << 32, x >> 40, x.LogicalRightShift(32), x << 31);
            var w = new Vector8us(1, 2, 3, 4, 50000, 6, 7, 65535);
            Console.WriteLine("{0} {1} {2}", w << 16, w >> 20, w.ArithmeticRightShift(17));
        }
    }
}
