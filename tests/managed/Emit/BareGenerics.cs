// A generic definition without arguments, as field's type, parameter, interface or parent: it means itself, or within its own class itself with its own parameters.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

public interface IMarker<T> { }

public class Base<T> { }

static class BareGenerics
{
    static int made;

    static ModuleBuilder Module()
    {
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Bare" + made++), AssemblyBuilderAccess.Run);
        return assembly.DefineDynamicModule("Bare");
    }

    static TypeBuilder Generic(ModuleBuilder module, string name, TypeAttributes attributes)
    {
        TypeBuilder type = module.DefineType(name, TypeAttributes.Public | attributes);
        type.DefineGenericParameters("T");
        return type;
    }

    static void Show(string what, Type type)
    {
        object made = Activator.CreateInstance(type.IsGenericTypeDefinition ? type.MakeGenericType(typeof(int)) : type);
        type = made.GetType();
        Console.WriteLine("{0}: {1} : {2} {3}", what, type, type.BaseType, string.Join<Type>(",", type.GetInterfaces()));
        foreach (FieldInfo field in type.GetFields()) Console.WriteLine("  {0} {1} {2}", field.FieldType, field.Name, field.GetValue(made) ?? "null");
    }

    static void Main()
    {
        TypeBuilder g = Generic(Module(), "G", 0);
        g.DefineField("next", g, FieldAttributes.Public);
        g.DefineField("all", g.MakeArrayType(), FieldAttributes.Public);
        Show("its own", g.CreateType());
        ModuleBuilder module = Module();
        g = Generic(module, "G", 0);
        TypeBuilder type = module.DefineType("C", TypeAttributes.Public);
        type.DefineField("g", g, FieldAttributes.Public);
        type.DefineField("list", typeof(List<>), FieldAttributes.Public);
        g.CreateType();
        Show("another's", type.CreateType());
        type = Module().DefineType("C", TypeAttributes.Public);
        type.AddInterfaceImplementation(typeof(IMarker<>));
        Show("interface", type.CreateType());
        module = Module();
        g = Generic(module, "I", TypeAttributes.Interface | TypeAttributes.Abstract);
        type = module.DefineType("C", TypeAttributes.Public);
        type.AddInterfaceImplementation(g);
        g.CreateType();
        Show("interface that is emitted", type.CreateType());
        g = Generic(Module(), "G", 0);
        g.AddInterfaceImplementation(typeof(IMarker<>).MakeGenericType(g.GetGenericArguments()));
        Show("interface with its parameters", g.CreateType());
        Console.WriteLine(Module().DefineType("C", TypeAttributes.Public, typeof(Base<>)).CreateType().BaseType);
    }
}
