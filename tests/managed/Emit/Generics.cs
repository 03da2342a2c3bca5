// Generic types and methods that a program defines, instantiated before and after they are created.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

public interface IMake<T> { T Make(); }
public class Holder<T> { public T Value; public Holder() { } public Holder(T v) { Value = v; } public T Get() { return Value; } public U Conv<U>(Func<T, U> f) { return f(Value); } }

class Generics
{
    static ModuleBuilder mb;
    static void Main()
    {
        var ab = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("gen"), AssemblyBuilderAccess.Run);
        mb = ab.DefineDynamicModule("gen");
        GenericType();
        GenericMethod();
        InstancesOfBuilders();
        GenericBase();
        Constraints();
        Nodes();
    }

    static void GenericType()
    {
        var tb = mb.DefineType("Box`1", TypeAttributes.Public);
        var T = tb.DefineGenericParameters("T")[0];
        var f = tb.DefineField("item", T, FieldAttributes.Public);
        var ctor = tb.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, new Type[] { T });
        var il = ctor.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Call, typeof(object).GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Stfld, f); il.Emit(OpCodes.Ret);
        var get = tb.DefineMethod("Get", MethodAttributes.Public, T, Type.EmptyTypes);
        il = get.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, f); il.Emit(OpCodes.Ret);
        // Its own instantiation within its code.
        var list = typeof(List<>).MakeGenericType(T);
        var many = tb.DefineMethod("Many", MethodAttributes.Public, list, new[] { typeof(int) });
        il = many.GetILGenerator();
        var l = il.DeclareLocal(list); var i = il.DeclareLocal(typeof(int));
        var loop = il.DefineLabel(); var end = il.DefineLabel();
        il.Emit(OpCodes.Newobj, TypeBuilder.GetConstructor(list, typeof(List<>).GetConstructor(Type.EmptyTypes))); il.Emit(OpCodes.Stloc, l);
        il.MarkLabel(loop);
        il.Emit(OpCodes.Ldloc, i); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Bge, end);
        il.Emit(OpCodes.Ldloc, l); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Call, get); il.Emit(OpCodes.Callvirt, TypeBuilder.GetMethod(list, typeof(List<>).GetMethod("Add")));
        il.Emit(OpCodes.Ldloc, i); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Add); il.Emit(OpCodes.Stloc, i); il.Emit(OpCodes.Br, loop);
        il.MarkLabel(end); il.Emit(OpCodes.Ldloc, l); il.Emit(OpCodes.Ret);
        var t = tb.CreateType();
        Console.WriteLine(t + " " + t.IsGenericTypeDefinition + " " + t.GetGenericArguments()[0].Name); // expect: Box`1[T] True T
        var inst = t.MakeGenericType(typeof(int));
        var o = Activator.CreateInstance(inst, 7);
        Console.WriteLine(inst.GetMethod("Get").Invoke(o, null)); // expect: 7
        Console.WriteLine(((List<int>)inst.GetMethod("Many").Invoke(o, new object[] { 3 })).Sum()); // expect: 21
        var si = t.MakeGenericType(typeof(string));
        var so = Activator.CreateInstance(si, "s");
        Console.WriteLine(string.Join("", (List<string>)si.GetMethod("Many").Invoke(so, new object[] { 2 }))); // expect: ss
        Console.WriteLine(si.GetField("item").FieldType); // expect: System.String
    }

    static void GenericMethod()
    {
        var tb = mb.DefineType("Meth", TypeAttributes.Public);
        var swap = tb.DefineMethod("First", MethodAttributes.Public | MethodAttributes.Static);
        var gp = swap.DefineGenericParameters("A", "B");
        swap.SetReturnType(gp[0]); swap.SetParameters(gp[0], gp[1]);
        var il = swap.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ret);
        var use = tb.DefineMethod("Use", MethodAttributes.Public | MethodAttributes.Static, typeof(string), Type.EmptyTypes);
        il = use.GetILGenerator();
        il.Emit(OpCodes.Ldstr, "one"); il.Emit(OpCodes.Ldc_I4_2);
        il.Emit(OpCodes.Call, swap.MakeGenericMethod(typeof(string), typeof(int))); il.Emit(OpCodes.Ret);
        // typeof(A) of a method's own parameter
        var ty = tb.DefineMethod("TypeOf", MethodAttributes.Public | MethodAttributes.Static);
        var ga = ty.DefineGenericParameters("A")[0];
        ty.SetReturnType(typeof(Type)); ty.SetParameters(Type.EmptyTypes);
        il = ty.GetILGenerator();
        il.Emit(OpCodes.Ldtoken, ga); il.Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle")); il.Emit(OpCodes.Ret);
        var t = tb.CreateType();
        Console.WriteLine(t.GetMethod("Use").Invoke(null, null)); // expect: one
        Console.WriteLine(t.GetMethod("First").MakeGenericMethod(typeof(int), typeof(string)).Invoke(null, new object[] { 5, "x" })); // expect: 5
        Console.WriteLine(t.GetMethod("TypeOf").MakeGenericMethod(typeof(int[])).Invoke(null, null)); // expect: System.Int32[]
    }

    static void InstancesOfBuilders()
    {
        // Holder<Item> where Item is not created yet.
        var item = mb.DefineType("Item", TypeAttributes.Public);
        item.DefineField("n", typeof(int), FieldAttributes.Public);
        var itemCtor = item.DefineDefaultConstructor(MethodAttributes.Public);
        var holder = typeof(Holder<>).MakeGenericType(item);
        var user = mb.DefineType("User", TypeAttributes.Public);
        user.DefineField("h", holder, FieldAttributes.Public);
        var m = user.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Static, item, Type.EmptyTypes);
        var il = m.GetILGenerator();
        il.Emit(OpCodes.Newobj, itemCtor);
        il.Emit(OpCodes.Newobj, TypeBuilder.GetConstructor(holder, typeof(Holder<>).GetConstructors()[1]));
        il.Emit(OpCodes.Dup); il.Emit(OpCodes.Ldfld, TypeBuilder.GetField(holder, typeof(Holder<>).GetField("Value"))); il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Callvirt, TypeBuilder.GetMethod(holder, typeof(Holder<>).GetMethod("Get"))); il.Emit(OpCodes.Ret);
        var arr = user.DefineMethod("Arr", MethodAttributes.Public | MethodAttributes.Static, item.MakeArrayType(), Type.EmptyTypes);
        il = arr.GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_3); il.Emit(OpCodes.Newarr, item); il.Emit(OpCodes.Ret);
        var br = user.DefineMethod("Ref", MethodAttributes.Public | MethodAttributes.Static, typeof(void), new[] { item.MakeByRefType() });
        il = br.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Newobj, itemCtor); il.Emit(OpCodes.Stind_Ref); il.Emit(OpCodes.Ret);
        var ut = user.CreateType();
        var it = item.CreateType();
        Console.WriteLine(ut.GetMethod("M").Invoke(null, null)); // expect: Item
        Console.WriteLine(ut.GetMethod("Arr").Invoke(null, null)); // expect: Item[]
        var args = new object[] { null };
        ut.GetMethod("Ref").Invoke(null, args);
        Console.WriteLine(args[0].GetType() == it); // expect: True
        Console.WriteLine(ut.GetField("h").FieldType); // expect: Holder`1[Item]
    }

    static void GenericBase()
    {
        var tb = mb.DefineType("Sub", TypeAttributes.Public);
        tb.SetParent(typeof(Holder<>).MakeGenericType(typeof(string)));
        tb.AddInterfaceImplementation(typeof(IMake<>).MakeGenericType(tb));
        var make = tb.DefineMethod("Make", MethodAttributes.Public | MethodAttributes.Virtual, tb, Type.EmptyTypes);
        var ctor = tb.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, Type.EmptyTypes);
        var il = ctor.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldstr, "sub"); il.Emit(OpCodes.Call, typeof(Holder<string>).GetConstructor(new[] { typeof(string) })); il.Emit(OpCodes.Ret);
        il = make.GetILGenerator();
        il.Emit(OpCodes.Newobj, ctor); il.Emit(OpCodes.Ret);
        var t = tb.CreateType();
        var o = (Holder<string>)Activator.CreateInstance(t);
        Console.WriteLine(o.Get() + " " + t.BaseType + " " + t.GetInterfaces()[0]); // expect: sub Holder`1[System.String] IMake`1[Sub]
        Console.WriteLine(t.GetInterfaces()[0].GetMethod("Make").Invoke(o, null)); // expect: Sub
    }

    static void Constraints()
    {
        var tb = mb.DefineType("Con`1", TypeAttributes.Public);
        var T = tb.DefineGenericParameters("T")[0];
        T.SetGenericParameterAttributes(GenericParameterAttributes.DefaultConstructorConstraint);
        T.SetInterfaceConstraints(typeof(IComparable));
        var m = tb.DefineMethod("New", MethodAttributes.Public | MethodAttributes.Static, T, Type.EmptyTypes);
        var il = m.GetILGenerator();
        il.Emit(OpCodes.Call, typeof(Activator).GetMethods().First(x => x.Name == "CreateInstance" && x.IsGenericMethod).MakeGenericMethod(T)); il.Emit(OpCodes.Ret);
        var t = tb.CreateType();
        Console.WriteLine(t.MakeGenericType(typeof(int)).GetMethod("New").Invoke(null, null)); // expect: 0
    }

    static void Nodes()
    {
        // class Node<T> { Node<T> next; T v; static Node<T> Cons(T v, Node<T> next); int Length() }
        var tb = mb.DefineType("Node`1", TypeAttributes.Public);
        var T = tb.DefineGenericParameters("T")[0];
        var next = tb.DefineField("next", tb, FieldAttributes.Public);
        var v = tb.DefineField("v", T, FieldAttributes.Public);
        var ctor = tb.DefineDefaultConstructor(MethodAttributes.Public);
        var cons = tb.DefineMethod("Cons", MethodAttributes.Public | MethodAttributes.Static, tb, new Type[] { T, tb });
        var il = cons.GetILGenerator();
        il.Emit(OpCodes.Newobj, ctor); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Stfld, v);
        il.Emit(OpCodes.Dup); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Stfld, next); il.Emit(OpCodes.Ret);
        var len = tb.DefineMethod("Length", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new Type[] { tb });
        il = len.GetILGenerator();
        var end = il.DefineLabel();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Brfalse, end);
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, next); il.Emit(OpCodes.Call, len); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret);
        il.MarkLabel(end); il.Emit(OpCodes.Ldc_I4_0); il.Emit(OpCodes.Ret);
        var t = tb.CreateType().MakeGenericType(typeof(double));
        object n = null;
        for (int i = 0; i < 4; i++) n = t.GetMethod("Cons").Invoke(null, new object[] { i * 1.5, n });
        Console.WriteLine(t.GetMethod("Length").Invoke(null, new[] { n }) + " " + t.GetField("v").GetValue(n)); // expect: 4 4.5
    }
}
