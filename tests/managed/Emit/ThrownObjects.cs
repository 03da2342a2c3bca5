// Objects thrown that are no exceptions: who catches decides whether they are wrapped. This assembly says WrapNonExceptionThrows, what is
// defined here does not, and dynamic methods without a module belong to an assembly that does not either.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

public static class ThrownObjects
{
    static void Throw(ILGenerator il)
    {
        il.Emit(OpCodes.Ldstr, "text");
        il.Emit(OpCodes.Throw);
    }

    /// What a clause for `caught` around a throw, or around a call of `thrower`, gets.
    static void Catch(ILGenerator il, Type caught, MethodInfo thrower)
    {
        var local = il.DeclareLocal(typeof(object));
        il.BeginExceptionBlock();
        if (thrower == null)
            Throw(il);
        else
            il.Emit(OpCodes.Call, thrower);
        il.BeginCatchBlock(caught);
        il.Emit(OpCodes.Stloc, local);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, local);
        il.Emit(OpCodes.Ret);
    }

    static void Show(string what, Func<object> run)
    {
        try
        {
            var got = run();
            var wrapped = got as RuntimeWrappedException;
            Console.WriteLine("{0}: {1}", what, wrapped == null ? got : "wrapped " + wrapped.WrappedException);
        }
        catch (Exception e)
        {
            var wrapped = e as RuntimeWrappedException;
            Console.WriteLine("{0}: left as {1} {2}", what, e.GetType().Name, wrapped == null ? e.Message : wrapped.WrappedException);
        }
    }

    static void Dynamic(string what, DynamicMethod method, Type caught)
    {
        Catch(method.GetILGenerator(), caught, null);
        Show(what, (Func<object>)method.CreateDelegate(typeof(Func<object>)));
    }

    static DynamicMethod Owned()
    {
        return new DynamicMethod("m", typeof(object), Type.EmptyTypes, typeof(ThrownObjects));
    }
    static DynamicMethod Hosted()
    {
        return new DynamicMethod("m", typeof(object), Type.EmptyTypes);
    }

    public static void ThrowHere()
    {
        var method = new DynamicMethod("m", typeof(void), Type.EmptyTypes, typeof(ThrownObjects).Module);
        Throw(method.GetILGenerator());
        ((Action)method.CreateDelegate(typeof(Action)))();
    }

    static void Main()
    {
        Dynamic("hosted, object", Hosted(), typeof(object)); // expect: hosted, object: text
        Dynamic("hosted, string", Hosted(), typeof(string)); // expect: hosted, string: text
        Dynamic("hosted, exception", Hosted(), typeof(Exception)); // expect: hosted, exception: left as RuntimeWrappedException text
        Dynamic("owned, object", Owned(), typeof(object)); // expect: owned, object: wrapped text
        Dynamic("owned, string", Owned(), typeof(string)); // expect: owned, string: left as RuntimeWrappedException text
        Dynamic("owned, exception", Owned(), typeof(Exception)); // expect: owned, exception: wrapped text

        var module = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("thrown"), AssemblyBuilderAccess.Run)
            .DefineDynamicModule("thrown");
        var type = module.DefineType("Defined", TypeAttributes.Public);
        var flags = MethodAttributes.Public | MethodAttributes.Static;
        Throw(type.DefineMethod("Throw", flags, typeof(void), Type.EmptyTypes).GetILGenerator());
        // Thrown by code of the assembly that wraps, caught by code of the one that does not.
        Catch(type.DefineMethod("Catch", flags, typeof(object), Type.EmptyTypes).GetILGenerator(), typeof(string),
            typeof(ThrownObjects).GetMethod("ThrowHere"));
        var made = type.CreateType();
        var run = (Action)Delegate.CreateDelegate(typeof(Action), made.GetMethod("Throw"));
        Show("defined", () => { run(); return null; }); // expect: defined: left as RuntimeWrappedException text
        Show("thrown here", (Func<object>)Delegate.CreateDelegate(typeof(Func<object>), made.GetMethod("Catch"))); // expect: thrown here: text
        Show("invoked", () => made.GetMethod("Throw").Invoke(null, null)); // expect: invoked: left as TargetInvocationException Exception has been thrown by the target of an invocation.
    }
}
