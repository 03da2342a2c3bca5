// A parameter without a name has an empty one, which traces show with the space before it; the return value has none. Methods without a row in the metadata have no
// tokens of parameters.
using System;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

static class NamelessParameters
{
    static string Names(MethodBase method)
    {
        return method.Name + "(" + string.Join(",", method.GetParameters().Select(p => p.Name == null ? "null" : "'" + p.Name + "'")) + ")";
    }

    static string Tokens(MethodBase method)
    {
        return string.Join(",", method.GetParameters().Select(p => p.MetadataToken.ToString("x")));
    }

    static MethodInfo Emitted()
    {
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Nameless"), AssemblyBuilderAccess.Run);
        TypeBuilder type = assembly.DefineDynamicModule("m").DefineType("T", TypeAttributes.Public);
        MethodBuilder method = type.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Static, typeof(void), new[] { typeof(int), typeof(string), typeof(int) });
        method.DefineParameter(2, ParameterAttributes.None, "text");
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Newobj, typeof(InvalidOperationException).GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Throw);
        return type.CreateType().GetMethod("M");
    }

    static void Main()
    {
        MethodInfo emitted = Emitted();
        Console.WriteLine(Names(emitted)); // expect: M('','text','')
        Console.WriteLine(emitted.ReturnParameter.Name == null); // expect: True
        Console.WriteLine(emitted.GetParameters()[0]); // expect: Int32 
        Console.WriteLine(Names(typeof(int[,]).GetMethod("Set"))); // expect: Set('','','')
        Console.WriteLine(Tokens(typeof(int[,]).GetMethod("Set"))); // expect: 0,0,0
        Console.WriteLine(Names(typeof(int[]).GetConstructors()[0])); // expect: .ctor('')
        try { ((Action<int, string, int>)Delegate.CreateDelegate(typeof(Action<int, string, int>), emitted))(1, "", 2); }
        catch (InvalidOperationException e) { Console.WriteLine(e.StackTrace.Split('\n')[0].Split('[')[0] + "|"); } // expect:   at T.M (System.Int32 , System.String text, System.Int32 ) |
        var dynamic = new DynamicMethod("D", typeof(int), new[] { typeof(int) });
        ILGenerator body = dynamic.GetILGenerator();
        body.Emit(OpCodes.Ldarg_0);
        body.Emit(OpCodes.Ret);
        MethodInfo method = dynamic.CreateDelegate(typeof(Func<int, int>)).Method;
        Console.WriteLine(Names(method) + " " + Tokens(method)); // expect: D('') 0
    }
}
