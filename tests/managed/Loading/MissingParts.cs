// Reflection gives out a type whose rows name only what can be loaded. A parent, an interface or a constraint that is missing refuses the type;
// a field, a method or the parent's parent does not.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class MissingParts
{
    const TypeAttributes Public = TypeAttributes.Public;

    /// Writes Lib.dll, and User.dll, which uses it; Lib.dll is deleted again.
    static void Write(string folder)
    {
        AssemblyBuilder lib = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("MissingLib"), AssemblyBuilderAccess.Save, folder);
        ModuleBuilder module = lib.DefineDynamicModule("MissingLib", "MissingLib.dll");
        Type g = module.DefineType("G", Public).CreateType();
        Type face = module.DefineType("I", Public | TypeAttributes.Interface | TypeAttributes.Abstract).CreateType();
        Type value = module.DefineType("V", Public, typeof(ValueType)).CreateType();
        AssemblyBuilder user = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("MissingUser"), AssemblyBuilderAccess.Save, folder);
        ModuleBuilder types = user.DefineDynamicModule("MissingUser", "MissingUser.dll");
        TypeBuilder type = types.DefineType("Field", Public);
        type.DefineField("g", g, FieldAttributes.Public);
        type.CreateType();
        type = types.DefineType("ValueField", Public);
        type.DefineField("v", value, FieldAttributes.Public);
        type.CreateType();
        type = types.DefineType("StructField", Public, typeof(ValueType));
        type.DefineField("v", value, FieldAttributes.Public);
        type.CreateType();
        type = types.DefineType("Method", Public);
        MethodBuilder method = type.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Virtual, g, new[] { value });
        method.GetILGenerator().Emit(OpCodes.Ldnull);
        method.GetILGenerator().Emit(OpCodes.Ret);
        type.CreateType();
        Type parent = types.DefineType("Parent", Public, g).CreateType();
        types.DefineType("ParentsParent", Public, parent).CreateType();
        types.DefineType("Interface", Public, typeof(object), new[] { face }).CreateType();
        types.DefineType("InterfaceOfInterface", Public | TypeAttributes.Interface | TypeAttributes.Abstract, null, new[] { face }).CreateType();
        type = types.DefineType("Constraint", Public);
        type.DefineGenericParameters("T")[0].SetBaseTypeConstraint(g);
        type.CreateType();
        type = types.DefineType("MethodsConstraint", Public);
        method = type.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Static);
        method.DefineGenericParameters("T")[0].SetBaseTypeConstraint(g);
        method.GetILGenerator().Emit(OpCodes.Ret);
        type.CreateType();
        types.DefineType("Argument", Public, typeof(System.Collections.Generic.List<>).MakeGenericType(g)).CreateType();
        lib.Save("MissingLib.dll");
        user.Save("MissingUser.dll");
        File.Delete(Path.Combine(folder, "MissingLib.dll"));
    }

    static void Main(string[] args)
    {
        string folder = Path.Combine(Path.GetTempPath(), "missing-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            Write(folder);
            Assembly user = Assembly.LoadFrom(Path.Combine(folder, "MissingUser.dll"));
            foreach (string name in new[] { "Field", "ValueField", "StructField", "Method", "ParentsParent", "Parent", "Interface", "InterfaceOfInterface", "Constraint", "MethodsConstraint", "Argument", "Nothing" })
            {
                try { Console.WriteLine(name + ": " + user.GetType(name, true)); }
                catch (Exception e) { Console.WriteLine(name + ": " + e.GetType().Name); }
            }
            try { Console.WriteLine(user.GetTypes().Length); }
            catch (ReflectionTypeLoadException e)
            {
                foreach (Type type in e.Types) Console.WriteLine(type == null ? "null" : type.Name);
                Console.WriteLine(e.LoaderExceptions.Length);
            }
        }
        finally { Directory.Delete(folder, true); }
    }
}
