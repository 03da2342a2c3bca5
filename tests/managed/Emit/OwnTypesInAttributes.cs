// Attributes in an assembly that the program defines name types of the same assembly, which no name finds from outside.
using System;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

public class NotedAttribute : Attribute
{
    public Type Type;
    public object Value;
    public Type[] Types;
    public NotedAttribute(Type type) { Type = type; }
    public NotedAttribute(object value) { Value = value; }
    public NotedAttribute(Type[] types) { Types = types; }
    public override string ToString()
    {
        return Type + "|" + Value + "|" + (Types == null ? "" : string.Join(",", Types.Select(t => t.ToString())));
    }
}

public static class OwnTypesInAttributes
{
    static CustomAttributeBuilder Noted(Type parameter, object value)
    {
        return new CustomAttributeBuilder(typeof(NotedAttribute).GetConstructor(new[] { parameter }), new[] { value });
    }
    static void Show(ICustomAttributeProvider provider)
    {
        Console.WriteLine(provider.GetCustomAttributes(typeof(NotedAttribute), false)[0]);
    }
    static void Main()
    {
        var name = new AssemblyName("Own") { Version = new Version(1, 2, 0, 0) };
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.Run);
        var module = assembly.DefineDynamicModule("own");
        var kind = module.DefineType("Kind", TypeAttributes.Public).CreateType();
        var colours = module.DefineEnum("Colours", TypeAttributes.Public, typeof(int));
        colours.DefineLiteral("Red", 1);
        var colour = colours.CreateType();

        var builder = module.DefineType("Holder", TypeAttributes.Public);
        builder.SetCustomAttribute(Noted(typeof(Type), kind));
        var field = builder.DefineField("F", typeof(int), FieldAttributes.Public);
        field.SetCustomAttribute(Noted(typeof(object), Enum.ToObject(colour, 1)));
        var method = builder.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Static, typeof(void), null);
        method.GetILGenerator().Emit(OpCodes.Ret);
        method.SetCustomAttribute(Noted(typeof(Type[]), new[] { kind, typeof(int), kind.MakeArrayType() }));
        var holder = builder.CreateType();
        assembly.SetCustomAttribute(Noted(typeof(Type), kind));

        Show(assembly); // expect: Kind||
        Show(holder); // expect: Kind||
        Show(holder.GetField("F")); // expect: |Red|
        Show(holder.GetMethod("M")); // expect: ||Kind,System.Int32,Kind[]
        Console.WriteLine(holder.GetField("F").CustomAttributes.Single()); // expect: [NotedAttribute((Colours)1)]
        Console.WriteLine(Type.GetType(kind.AssemblyQualifiedName) ?? (object)"not found"); // expect: not found
    }
}
