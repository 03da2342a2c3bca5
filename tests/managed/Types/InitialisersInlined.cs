// A method that asks to be inlined is, in mono, so what it accesses is initialised at the access; a synchronized method of a class with a static
// constructor is compiled behind its wrapper, which initialises the class first.
using System; using System.Runtime.CompilerServices;
static class L { public static int I(string n){ Console.WriteLine("init "+n); return 1; } public static bool Never; }
class A { public static int X = L.I("A"), Y; }
class B { [MethodImpl(MethodImplOptions.AggressiveInlining)] public static int M(int d) { Console.WriteLine("M "+d); if (d<=0) return 2; return A.Y; } }
class C { public static int X = L.I("C"); 
 [MethodImpl(MethodImplOptions.AggressiveInlining)] public static int M(int d) { Console.WriteLine("C.M "+d); if (d<=0) return 2; return A.Y; } }
class Y2 { public static int X = L.I("Y2"); }
class Z { static Z() { Console.WriteLine("constructs Z"); } [MethodImpl(MethodImplOptions.Synchronized)] public static void M(bool b) { if (b) Console.WriteLine(Y2.X); Console.WriteLine("Z.M"); } }
class P { static void Main(){ S(); T(); Z.M(false); } static void S(){ Console.WriteLine("S"); Console.WriteLine(B.M(0)); Console.WriteLine("again"); Console.WriteLine(B.M(1)); } 
static void T(){ Console.WriteLine("T"); Console.WriteLine(C.M(1)); } }
