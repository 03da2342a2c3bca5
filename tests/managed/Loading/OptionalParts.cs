// A program whose optional part is in a file that is missing catches FileNotFoundException around it. The errors of the code that is called come before those of
// its class, one of whose static fields is of a missing type: a compiler keeps lambdas in such fields.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class OptionalParts
{
    const TypeAttributes Public = TypeAttributes.Public;
    const MethodAttributes Static = MethodAttributes.Public | MethodAttributes.Static;
    static TypeBuilder host;

    /// A method of the class Host that is not inlined.
    static void Part(string name, Action<ILGenerator> body)
    {
        MethodBuilder part = host.DefineMethod(name, Static, typeof(int), Type.EmptyTypes);
        part.SetImplementationFlags(MethodImplAttributes.NoInlining);
        ILGenerator il = part.GetILGenerator();
        body(il);
        il.Emit(OpCodes.Ldc_I4_3);
        il.Emit(OpCodes.Ret);
    }

    /// Writes OptionalLib.dll, OptionalHost.dll, which uses it, and OptionalCalls.dll, which uses that; OptionalLib.dll is deleted again.
    static void Write(string folder)
    {
        AssemblyBuilder lib = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("OptionalLib"), AssemblyBuilderAccess.Save, folder);
        ModuleBuilder module = lib.DefineDynamicModule("OptionalLib", "OptionalLib.dll");
        TypeBuilder c = module.DefineType("C", Public);
        c.DefineDefaultConstructor(MethodAttributes.Public);
        Type missing = c.CreateType();
        Type error = module.DefineType("E", Public, typeof(Exception)).CreateType();
        AssemblyBuilder user = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("OptionalHost"), AssemblyBuilderAccess.Save, folder);
        host = user.DefineDynamicModule("OptionalHost", "OptionalHost.dll").DefineType("Host", Public);
        host.DefineField("cache", typeof(Func<,>).MakeGenericType(missing, typeof(int)), FieldAttributes.Private | FieldAttributes.Static);
        AssemblyBuilder caller = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("OptionalCalls"), AssemblyBuilderAccess.Save, folder);
        TypeBuilder calls = caller.DefineDynamicModule("OptionalCalls", "OptionalCalls.dll").DefineType("Calls", Public);
        Part("Local", il => il.DeclareLocal(missing));
        Part("Makes", il => { il.Emit(OpCodes.Newobj, missing.GetConstructor(Type.EmptyTypes)); il.Emit(OpCodes.Pop); });
        Part("Clause", il =>
        {
            il.BeginExceptionBlock();
            il.BeginCatchBlock(error);
            il.Emit(OpCodes.Pop);
            il.EndExceptionBlock();
        });
        Part("TypeOf", il => { il.Emit(OpCodes.Ldtoken, missing); il.Emit(OpCodes.Pop); });
        Part("Plain", il => { });
        foreach (MethodInfo part in host.CreateType().GetMethods(BindingFlags.Public | BindingFlags.Static))
        {
            ILGenerator il = calls.DefineMethod(part.Name, Static, typeof(int), Type.EmptyTypes).GetILGenerator();
            il.Emit(OpCodes.Call, part);
            il.Emit(OpCodes.Ret);
        }
        calls.CreateType();
        lib.Save("OptionalLib.dll");
        user.Save("OptionalHost.dll");
        caller.Save("OptionalCalls.dll");
        File.Delete(Path.Combine(folder, "OptionalLib.dll"));
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "optional-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            Write(folder);
            Type type = Assembly.LoadFrom(Path.Combine(folder, "OptionalCalls.dll")).GetType("Calls");
            foreach (MethodInfo method in type.GetMethods(BindingFlags.Public | BindingFlags.Static))
                for (int i = 0; i < 2; i++)
                {
                    string text;
                    try { text = "" + ((Func<int>)Delegate.CreateDelegate(typeof(Func<int>), method))(); }
                    catch (FileNotFoundException) { text = "the optional part is not there"; }
                    catch (TypeLoadException e) { text = e.Message.Replace(", Version=0.0.0.0, Culture=neutral, PublicKeyToken=null", ""); }
                    Console.WriteLine(method.Name + ": " + text);
                }
        }
        finally { Directory.Delete(folder, true); }
    }
}
