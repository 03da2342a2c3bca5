// mcs: -unsafe -nowarn:649,626,169,414
// Where the offsets of fields are declared, static ones and constants have a FieldOffsetAttribute, too, with an offset without sense. An abstract method is no internal call, whatever is declared.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Explicit)]
struct Placed
{
    public const int Constant = 1;
    [FieldOffset(0)] public int A;
    [FieldOffset(4)] public byte B;
    public static int Static;
    public static string Text;
    public static byte Byte;
    public static long Long;
    [ThreadStatic] public static int OfThread;
    public static readonly Placed Self;
    public const string Name = "x";
    [FieldOffset(5)][NonSerialized] public byte Unserialized;
}

[StructLayout(LayoutKind.Explicit)]
class PlacedClass
{
    [FieldOffset(8)] public int A;
    public static object Object;
    public static bool Bool;
    public static DayOfWeek Day;
    public static unsafe int* Pointer;
    public static decimal Decimal;
    public const int Constant = 2;
}

class PlainClass
{
    public const int Constant = 3;
    public static int Static;
}

[ComImport, Guid("000209FF-0000-0000-C000-000000000047")]
interface IImported
{
    void A();
    [PreserveSig] int B();
    [MethodImpl(MethodImplOptions.InternalCall, MethodCodeType = MethodCodeType.Runtime)] void C();
    int P { [MethodImpl(MethodImplOptions.InternalCall)] get; }
}

abstract class Abstract
{
    [MethodImpl(MethodImplOptions.InternalCall)] public abstract void A();
    [MethodImpl(MethodImplOptions.InternalCall)] public extern void B();
}

static class OffsetsOfStatics
{
    static void Main()
    {
        foreach (var type in new[] { typeof(Placed), typeof(PlacedClass), typeof(PlainClass), typeof(decimal) })
            foreach (var field in type.GetFields())
                Console.WriteLine(type + "." + field.Name + " " + string.Join(";", field.GetCustomAttributesData()) + " " + field.GetCustomAttributes(true).Length + field.IsDefined(typeof(FieldOffsetAttribute), false));
        foreach (var type in new[] { typeof(IImported), typeof(Abstract) })
            foreach (var method in type.GetMethods(BindingFlags.DeclaredOnly | BindingFlags.Public | BindingFlags.Instance))
                Console.WriteLine(type + "." + method.Name + " " + (int)method.GetMethodImplementationFlags() + " " + string.Join(";", method.GetCustomAttributesData()));
    }
}
