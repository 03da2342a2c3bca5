// A type that is needed before it is created: AppDomain.TypeResolve asks for it.
using System;
using System.Reflection;
using System.Reflection.Emit;

class TypeResolve
{
    static void Main()
    {
        var ab = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("res"), AssemblyBuilderAccess.Run);
        var mb = ab.DefineDynamicModule("res");
        var late = mb.DefineType("Late", TypeAttributes.Public);
        late.DefineField("x", typeof(long), FieldAttributes.Public);
        AppDomain.CurrentDomain.TypeResolve += (o, e) => {
            Console.WriteLine("resolve " + e.Name);
            if (e.Name == "Late") late.CreateType();
            return ab;
        };
        // Code that needs a type which nobody has created yet: asked for when the method is compiled.
        var user = mb.DefineType("User", TypeAttributes.Public);
        var make = user.DefineMethod("Make", MethodAttributes.Public | MethodAttributes.Static, typeof(object), Type.EmptyTypes);
        var il = make.GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_3); il.Emit(OpCodes.Newarr, late); il.Emit(OpCodes.Ret);
        var ut = user.CreateType();
        Console.WriteLine("created"); // expect: created
        // expect: resolve Late
        Console.WriteLine(ut.GetMethod("Make").Invoke(null, null)); // expect: Late[]
        Console.WriteLine(late.IsCreated() + " " + late.CreateType().GetFields().Length); // expect: True 1
        // A struct around a nested one.
        var outer = mb.DefineType("Outer", TypeAttributes.Public | TypeAttributes.SequentialLayout, typeof(ValueType));
        var inner = outer.DefineNestedType("Inner", TypeAttributes.NestedPublic | TypeAttributes.SequentialLayout, typeof(ValueType));
        inner.DefineField("y", typeof(int), FieldAttributes.Public);
        outer.DefineField("i", inner, FieldAttributes.Public);
        AppDomain.CurrentDomain.TypeResolve += (o, e) => { if (e.Name == "Outer+Inner") inner.CreateType(); return ab; };
        var ot = outer.CreateType(); // expect: resolve Outer+Inner
        var it = inner.CreateType();
        Console.WriteLine(it.FullName + " " + System.Runtime.InteropServices.Marshal.SizeOf(ot)); // expect: Outer+Inner 4
    }
}
