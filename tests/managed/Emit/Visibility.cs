// What code of another assembly may name: methods of accessible types only, but fields of any, and delegates behind `ldftn`. Type arguments need
// not be accessible, and casts, arrays and tokens name any type.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

class Hidden
{
    public static int Field = 1;
    public static int Method() { return 1; }
    public class Inner { public static int Method() { return 1; } }
}

delegate int HiddenDelegate();

struct HiddenStruct
{
    public static int Method() { return 1; }
}

interface IHidden
{
    int Method();
}

public class Shown
{
    class Private { public static int Method() { return 1; } public static int Field = 1; }
    protected class Family { public static int Method() { return 1; } public class Inner { public static int Method() { return 1; } } }
    internal class Assembly { public static int Method() { return 1; } }
    protected internal class Either { public static int Method() { return 1; } }
    public class Public { public static int Method() { return 1; } }
    public static int Generic<T>() { return 1; }
}

public class ShownGeneric<T>
{
    public static int Method() { return 1; }
}

public static class Visibility
{
    static readonly ModuleBuilder module = AppDomain.CurrentDomain
        .DefineDynamicAssembly(new AssemblyName("other"), AssemblyBuilderAccess.Run).DefineDynamicModule("other");
    static int count;

    static void Try(string what, Type parent, Action<ILGenerator> write)
    {
        var outer = module.DefineType("T" + ++count, TypeAttributes.Public, parent);
        var inner = outer.DefineNestedType("Nested", TypeAttributes.NestedPublic);
        foreach (var type in new[] { outer, inner })
        {
            var il = type.DefineMethod("Run", MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes).GetILGenerator();
            write(il);
            il.Emit(OpCodes.Ret);
        }
        foreach (var type in new[] { outer.CreateType(), inner.CreateType() })
        {
            string result;
            try
            {
                result = type.GetMethod("Run").Invoke(null, null).ToString();
            }
            catch (TargetInvocationException e)
            {
                result = e.InnerException.GetType().Name + ": " + e.InnerException.Message.Trim();
            }
            Console.WriteLine("{0} in {1}: {2}", what, type.Name, result);
        }
    }

    static Type Nested(string name)
    {
        return typeof(Shown).GetNestedType(name, BindingFlags.Public | BindingFlags.NonPublic);
    }

    static void Main()
    {
        Action<ILGenerator> one = il => il.Emit(OpCodes.Ldc_I4_1);
        Try("method", typeof(object), il => il.Emit(OpCodes.Call, typeof(Hidden).GetMethod("Method")));
        Try("pointer", typeof(object), il => { il.Emit(OpCodes.Ldftn, typeof(Hidden).GetMethod("Method")); il.Emit(OpCodes.Pop); one(il); });
        Try("of a nested type", typeof(object), il => il.Emit(OpCodes.Call, typeof(Hidden.Inner).GetMethod("Method")));
        Try("of a struct", typeof(object), il => il.Emit(OpCodes.Call, typeof(HiddenStruct).GetMethod("Method")));
        Try("of an interface", typeof(object), il => { il.Emit(OpCodes.Ldnull); il.Emit(OpCodes.Callvirt, typeof(IHidden).GetMethod("Method")); });
        Try("constructor", typeof(object), il => { il.Emit(OpCodes.Newobj, typeof(Hidden).GetConstructor(Type.EmptyTypes)); il.Emit(OpCodes.Pop); one(il); });
        Try("field", typeof(object), il => il.Emit(OpCodes.Ldsfld, typeof(Hidden).GetField("Field")));
        Try("array", typeof(object), il => { one(il); il.Emit(OpCodes.Newarr, typeof(Hidden)); il.Emit(OpCodes.Ldlen); il.Emit(OpCodes.Conv_I4); });
        Try("cast", typeof(object), il => { il.Emit(OpCodes.Ldnull); il.Emit(OpCodes.Castclass, typeof(Hidden)); il.Emit(OpCodes.Pop); one(il); });
        Try("argument of a method", typeof(object), il => il.Emit(OpCodes.Call, typeof(Shown).GetMethod("Generic").MakeGenericMethod(typeof(Hidden))));
        Try("argument of a type", typeof(object), il => il.Emit(OpCodes.Call, typeof(ShownGeneric<Hidden>).GetMethod("Method")));
        Try("delegate", typeof(object), il =>
        {
            il.Emit(OpCodes.Ldnull);
            il.Emit(OpCodes.Ldftn, typeof(Shown.Public).GetMethod("Method"));
            il.Emit(OpCodes.Newobj, typeof(HiddenDelegate).GetConstructors()[0]);
            il.Emit(OpCodes.Pop);
            one(il);
        });
        Try("invoked delegate", typeof(object), il => { il.Emit(OpCodes.Ldnull); il.Emit(OpCodes.Callvirt, typeof(HiddenDelegate).GetMethod("Invoke")); });
        foreach (var parent in new[] { typeof(object), typeof(Shown) })
        {
            foreach (var name in new[] { "Private", "Family", "Assembly", "Either", "Public" })
                Try(name + " from a descendant of " + parent.Name, parent, il => il.Emit(OpCodes.Call, Nested(name).GetMethod("Method")));
            Try("private field's type", parent, il => il.Emit(OpCodes.Ldsfld, Nested("Private").GetField("Field")));
            Try("within a family type", parent, il => il.Emit(OpCodes.Call, Nested("Family").GetNestedType("Inner").GetMethod("Method")));
        }
    }
}
