// Attributes name types that have not been created, and types made of them. They are read before and after the types are created. Mono prints the same.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

public class TA : Attribute
{
    public Type T;
    public Type[] Ts;
    public object O;
    public TA() { }
    public TA(Type t) { T = t; }
    public TA(object o) { O = o; }
    public TA(Type[] ts) { Ts = ts; }
    public Type Prop { get; set; }
    public override string ToString()
    {
        return T + "|" + O + "|" + (Ts == null ? "" : string.Join(",", Ts.Select(t => t + ""))) + "|" + Prop;
    }
}

static class AttributesOfUncreatedTypes
{
    static string Of(ICustomAttributeProvider p) { return string.Join(" ", p.GetCustomAttributes(false).OfType<TA>().Select(a => a + "")); }
    static CustomAttributeBuilder Attr<T>(T value) { return new CustomAttributeBuilder(typeof(TA).GetConstructor(new[] { typeof(T) }), new object[] { value }); }

    static void Main()
    {
        var ab = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("dyn"), AssemblyBuilderAccess.Run);
        var mb = ab.DefineDynamicModule("dyn");
        var none = typeof(TA).GetConstructor(Type.EmptyTypes);
        var a = mb.DefineType("Space.A", TypeAttributes.Public);
        var b = mb.DefineType("B", TypeAttributes.Public);
        var n = a.DefineNestedType("N", TypeAttributes.NestedPublic);
        var nn = n.DefineNestedType("N2", TypeAttributes.NestedPublic);
        a.SetCustomAttribute(Attr<Type>(a));
        a.SetCustomAttribute(Attr<Type>(b));
        a.SetCustomAttribute(Attr<Type>(n));
        a.SetCustomAttribute(Attr<Type>(nn));
        a.SetCustomAttribute(Attr<Type>(typeof(List<>).MakeGenericType(b)));
        a.SetCustomAttribute(Attr<Type>(typeof(Dictionary<,>).MakeGenericType(typeof(int), b)));
        a.SetCustomAttribute(Attr<Type>(b.MakeArrayType()));
        a.SetCustomAttribute(Attr<Type>(b.MakeArrayType(2)));
        a.SetCustomAttribute(Attr<Type>(b.MakePointerType()));
        a.SetCustomAttribute(Attr<object>(b));
        a.SetCustomAttribute(Attr(new Type[] { a, b, null, typeof(int) }));
        a.SetCustomAttribute(new CustomAttributeBuilder(none, new object[0], new[] { typeof(TA).GetProperty("Prop") }, new object[] { b }));
        a.SetCustomAttribute(new CustomAttributeBuilder(none, new object[0], new[] { typeof(TA).GetField("O") }, new object[] { b }));
        ab.SetCustomAttribute(Attr<Type>(b));
        mb.SetCustomAttribute(Attr<Type>(b));
        Console.WriteLine(Of(ab)); // expect: B|||
        Console.WriteLine(Of(mb)); // expect: B|||
        var m = mb.DefineType("M", TypeAttributes.Public);
        var f = m.DefineMethod("F", MethodAttributes.Public | MethodAttributes.Static, typeof(void), Type.EmptyTypes);
        f.GetILGenerator().Emit(OpCodes.Ret);
        var z = mb.DefineType("Z");
        f.SetCustomAttribute(Attr<Type>(z));
        f.DefineParameter(0, ParameterAttributes.None, "r").SetCustomAttribute(Attr<object>(z));
        var created = m.CreateType().GetMethod("F");
        Console.WriteLine(Of(created)); // expect: Z|||
        Console.WriteLine(Of(created.ReturnParameter)); // expect: |Z||
        z.CreateType();
        Console.WriteLine(Of(created)); // expect: Z|||
        var at = a.CreateType();
        Console.WriteLine(at.IsDefined(typeof(TA), false)); // expect: True
        b.CreateType();
        n.CreateType();
        nn.CreateType();
        Console.WriteLine(Of(ab)); // expect: B|||
        foreach (TA attribute in at.GetCustomAttributes(typeof(TA), false))
            Console.WriteLine(attribute);
        // expect: Space.A|||
        // expect: B|||
        // expect: Space.A+N|||
        // expect: Space.A+N+N2|||
        // expect: System.Collections.Generic.List`1[B]|||
        // expect: System.Collections.Generic.Dictionary`2[System.Int32,B]|||
        // expect: B[]|||
        // expect: B[,]|||
        // expect: B*|||
        // expect: |B||
        // expect: ||Space.A,B,,System.Int32|
        // expect: |||B
        // expect: |B||
    }
}
