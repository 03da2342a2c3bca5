// tiers: all
// What a type says of itself, asked again and again: the second time it is not the runtime that answers. All sorts of types, also while and after they are defined.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.Serialization;

static class TypeFacts
{
    public interface IThing { }
    public abstract class Base<T> { public class Inner { } public T field; public void Method<U>(U u, ref T t) { } protected Base() { } internal Base(int n) { } }
    sealed class Derived : Base<int> { public Derived() { } }
    struct Value { }
    enum Kind : byte { One }
    delegate void Call();
    static class Nothing { }
    [Serializable] public class Written { private Written() { } }

    static string Of(Type t)
    {
        return string.Format("{0} {1}{2}{3}{4}{5}{6}{7}{8}{9}{10}{11}{12}{13}{14} {15} {16}", t.Attributes, t.IsAbstract ? "A" : "-", t.IsSealed ? "S" : "-", t.IsInterface ? "I" : "-",
            t.IsPublic ? "P" : "-", t.IsNested ? "N" : "-", t.IsValueType ? "V" : "-", t.IsEnum ? "E" : "-", t.IsArray ? "[" : "-", t.IsPointer ? "*" : "-", t.IsByRef ? "&" : "-",
            t.IsGenericType ? "G" : "-", t.IsGenericTypeDefinition ? "D" : "-", t.IsGenericParameter ? "T" : "-", t.ContainsGenericParameters ? "C" : "-", t.HasElementType,
            t.IsPrimitive);
    }

    static void Try(string what, Func<object> f)
    {
        try { Console.WriteLine("{0}: {1}", what, f() ?? "null"); }
        catch (Exception e) { Console.WriteLine("{0}: {1}: {2}", what, e.GetType().Name, e.Message.Replace('\n', '|')); }
    }

    static void Main()
    {
        Type open = typeof(Base<>), parameter = open.GetGenericArguments()[0];
        MethodInfo method = open.GetMethod("Method");
        Type[] types = { typeof(object), typeof(string), typeof(int), typeof(IntPtr), typeof(void), typeof(IThing), open, typeof(Base<string>), typeof(Base<>.Inner), typeof(Base<int>.Inner),
            typeof(Derived), typeof(Value), typeof(Kind), typeof(Call), typeof(Nothing), typeof(Written), typeof(int[]), typeof(int[,]), typeof(string[][]), typeof(int*), typeof(void*),
            typeof(int).MakeByRefType(), typeof(Kind).MakeByRefType(), typeof(Written).MakeByRefType(), parameter, parameter.MakeArrayType(), parameter.MakeByRefType(), method.GetGenericArguments()[0],
            method.GetParameters()[1].ParameterType, open.GetField("field").FieldType, typeof(int?), typeof(Nullable<>), typeof(List<>).MakeGenericType(parameter), typeof(KeyValuePair<,>),
            typeof(Dictionary<string, int[]>.Enumerator), typeof(TypedReference), typeof(Enum), typeof(ValueType), typeof(Array), typeof(Delegate) };
        for (int round = 0; round < 3; round++)
        {
            foreach (Type t in types)
                Console.WriteLine("{0}: {1}", t, Of(t));
        }
        foreach (MethodBase m in new MethodBase[] { method, typeof(Derived).GetConstructors()[0], typeof(object).GetMethod("ToString"), typeof(string).GetMethod("Concat", new[] { typeof(object) }) })
        {
            for (int round = 0; round < 2; round++)
                Console.WriteLine("{0}: {1} {2} {3} {4} {5}", m.Name, m.Attributes, m.IsPublic, m.IsStatic, m.IsVirtual, m.IsAbstract);
        }

        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("made"), AssemblyBuilderAccess.Run);
        var module = assembly.DefineDynamicModule("made");
        var builder = module.DefineType("Made", TypeAttributes.Public | TypeAttributes.Abstract);
        Console.WriteLine("{0} {1}", builder.Attributes, builder.IsAbstract);
        var arguments = builder.DefineGenericParameters("T");
        Console.WriteLine("{0} {1} {2}", builder.IsGenericType, builder.IsGenericTypeDefinition, arguments[0].IsGenericParameter);
        Type made = builder.CreateType();
        for (int round = 0; round < 2; round++)
        {
            Console.WriteLine(Of(made));
            Console.WriteLine(Of(made.MakeArrayType()));
            Console.WriteLine(Of(made.MakeGenericType(typeof(int))));
            Console.WriteLine(Of(typeof(List<>).MakeGenericType(made.MakeGenericType(typeof(int)))));
        }

        for (int round = 0; round < 3; round++)
        {
            Try("class", () => Activator.CreateInstance(typeof(Derived)));
            Try("struct", () => Activator.CreateInstance(typeof(Value)));
            Try("enum", () => Activator.CreateInstance(typeof(Kind)));
            Try("generic", () => Activator.CreateInstance(typeof(List<string>)));
            Try("nullable", () => Activator.CreateInstance(typeof(int?)));
            Try("abstract", () => Activator.CreateInstance(typeof(Base<int>)));
            Try("open", () => Activator.CreateInstance(typeof(List<>)));
            Try("interface", () => Activator.CreateInstance(typeof(IThing)));
            Try("private", () => Activator.CreateInstance(typeof(Written)));
            Try("private, allowed", () => Activator.CreateInstance(typeof(Written), true));
            Try("string", () => Activator.CreateInstance(typeof(string)));
            Try("array", () => Activator.CreateInstance(typeof(int[])));
            Try("pointer", () => Activator.CreateInstance(typeof(int*)));
            Try("by reference", () => Activator.CreateInstance(typeof(int).MakeByRefType()));
            Try("void", () => Activator.CreateInstance(typeof(void)));
            Try("typed reference", () => Activator.CreateInstance(typeof(TypedReference)));
            Try("parameter", () => Activator.CreateInstance(parameter));
            Try("delegate", () => Activator.CreateInstance(typeof(Call)));
            Try("static", () => Activator.CreateInstance(typeof(Nothing)));
            Try("builder", () => Activator.CreateInstance(builder));
            Try("null", () => Activator.CreateInstance((Type)null));
        }
    }
}
