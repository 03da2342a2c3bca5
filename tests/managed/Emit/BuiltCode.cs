// Code that builders and dynamic methods make: members of instantiations over a type that is created when it is asked for, methods of arrays,
// delegates over methods without a body, fields of types that nobody creates.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

public interface IThree { int Three(); }
public class ThreeOf : IThree { int IThree.Three() { return 3; } }
public abstract class Abstract { public abstract int Four(); }
public class FourOf : Abstract { public override int Four() { return 4; } }
public class Lookup<T>
{
    public static Type Static = typeof(T);
    public Type Instance = typeof(T);
    public static Type Method() { return typeof(T); }
}

public static class BuiltCode
{
    static int count;
    static ModuleBuilder Module()
    {
        var name = new AssemblyName("code" + count++);
        return AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndSave).DefineDynamicModule(name.Name, name.Name + ".dll");
    }
    static void Try(string what, Func<object> make)
    {
        try {
            Console.WriteLine("{0}: {1}", what, make() ?? "null");
        } catch (Exception e) {
            if (e is TargetInvocationException) e = e.InnerException;
            var load = e as TypeLoadException;
            Console.WriteLine("{0}: {1}{2}", what, e.GetType().Name, load == null ? "" : " <" + load.TypeName + ">");
        }
    }
    static MethodInfo Build(ModuleBuilder m, Type result, Action<ILGenerator> emit)
    {
        var tb = m.DefineType("Code" + count++, TypeAttributes.Public);
        var mb = tb.DefineMethod("Run", MethodAttributes.Public | MethodAttributes.Static, result, null);
        emit(mb.GetILGenerator());
        return tb.CreateType().GetMethod("Run");
    }

    static TypeBuilder wanted;
    static bool creates;
    static int asked;
    static Assembly Resolve(object sender, ResolveEventArgs args)
    {
        asked++;
        if (!creates) return null;
        wanted.CreateType();
        return wanted.Assembly;
    }

    static void Instantiations()
    {
        Console.WriteLine("--- instantiations");
        AppDomain.CurrentDomain.TypeResolve += Resolve;
        foreach (var create in new[] { true, false }) {
            creates = create;
            // What a field of a type that nobody creates is, and its token, mono cannot say.
            for (int kind = create ? 0 : 1; kind < (create ? 4 : 3); kind++) {
                var m = Module();
                var tb = wanted = m.DefineType("Foo" + kind);
                var over = typeof(Lookup<>).MakeGenericType(tb);
                var code = Build(m, typeof(Type), il => {
                    switch (kind) {
                    case 0: il.Emit(OpCodes.Ldsfld, TypeBuilder.GetField(over, typeof(Lookup<>).GetField("Static"))); break;
                    case 1: il.Emit(OpCodes.Call, TypeBuilder.GetMethod(over, typeof(Lookup<>).GetMethod("Method"))); break;
                    case 2:
                        il.Emit(OpCodes.Newobj, TypeBuilder.GetConstructor(over, typeof(Lookup<>).GetConstructor(Type.EmptyTypes)));
                        il.Emit(OpCodes.Ldfld, TypeBuilder.GetField(over, typeof(Lookup<>).GetField("Instance")));
                        break;
                    case 3:
                        il.Emit(OpCodes.Ldtoken, over);
                        il.Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle"));
                        break;
                    }
                    il.Emit(OpCodes.Ret);
                });
                asked = 0;
                Try("kind " + kind, () => code.Invoke(null, null));
                Console.WriteLine("asked {0}, created {1}", asked > 0, tb.IsCreated());
                Try("once more", () => code.Invoke(null, null));
                tb.CreateType();
                if (kind != 3) Try("when it is created", () => code.Invoke(null, null));
            }
        }
        AppDomain.CurrentDomain.TypeResolve -= Resolve;
    }

    static void Delegates()
    {
        Console.WriteLine("--- delegates");
        var func = typeof(Func<int>);
        var m = Module();
        foreach (var pair in new[] { new { Class = typeof(ThreeOf), Of = typeof(IThree), Name = "Three" }, new { Class = typeof(FourOf), Of = typeof(Abstract), Name = "Four" } }) {
            foreach (var code in new[] { OpCodes.Ldftn, OpCodes.Ldvirtftn }) {
                var run = Build(m, func, il => {
                    il.Emit(OpCodes.Newobj, pair.Class.GetConstructor(Type.EmptyTypes));
                    if (code == OpCodes.Ldvirtftn) il.Emit(OpCodes.Dup);
                    il.Emit(code, pair.Of.GetMethod(pair.Name));
                    il.Emit(OpCodes.Newobj, func.GetConstructors()[0]);
                    il.Emit(OpCodes.Ret);
                });
                Try(pair.Name + " " + code.Name, () => ((Func<int>)run.Invoke(null, null))());
            }
            var target = Activator.CreateInstance(pair.Class);
            Try(pair.Name, () => ((Func<int>)Delegate.CreateDelegate(func, target, pair.Of.GetMethod(pair.Name)))());
        }
    }

    static void Dynamic()
    {
        Console.WriteLine("--- dynamic methods");
        var m = Module();
        var d = new DynamicMethod("get", typeof(int), new[] { typeof(int[,]) }, m);
        var il = d.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Ldc_I4_2);
        il.Emit(OpCodes.Call, m.GetArrayMethod(typeof(int[,]), "Get", CallingConventions.Standard, typeof(int), new[] { typeof(int), typeof(int) }));
        il.Emit(OpCodes.Ret);
        var get = (Func<int[,], int>)d.CreateDelegate(typeof(Func<int[,], int>));
        var array = new int[3, 3];
        array[1, 2] = 5;
        Console.WriteLine(get(array));
        Try("body", () => get.Method.GetMethodBody());
        Try("token", () => get.Method.MetadataToken);
    }

    static void Main()
    {
        Instantiations();
        Delegates();
        Dynamic();
    }
}
