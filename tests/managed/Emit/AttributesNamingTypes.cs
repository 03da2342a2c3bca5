// Types that attributes name: type variables can be written, by bare names, and what no type has for a name is a TypeLoadException of the reader.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Text;

public class NamesAttribute : Attribute
{
    public readonly object Named;
    public NamesAttribute() { }
    public NamesAttribute(Type type) { Named = type; }
    public NamesAttribute(object value) { Named = value; }
    public Type Property { get; set; }
}

static class AttributesNamingTypes
{
    static void Show(string what, Func<object> get)
    {
        try
        {
            Console.WriteLine("{0}: {1}", what, get());
        }
        catch (TypeLoadException e)
        {
            Console.WriteLine("{0}: {1} '{2}'", what, e.Message, e.TypeName);
        }
    }

    static byte[] Blob(byte[] tag, string name, params byte[] value)
    {
        var text = Encoding.UTF8.GetBytes(name);
        return new byte[] { 1, 0 }.Concat(tag).Concat(new[] { (byte)text.Length }).Concat(text).Concat(value).Concat(new byte[2]).ToArray();
    }

    static void Main()
    {
        var module = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("names"), AssemblyBuilderAccess.Run).DefineDynamicModule("names");
        var type = module.DefineType("G", TypeAttributes.Public);
        var variable = type.DefineGenericParameters("T")[0];
        var byType = typeof(NamesAttribute).GetConstructor(new[] { typeof(Type) });
        var byValue = typeof(NamesAttribute).GetConstructor(new[] { typeof(object) });
        Action<string, CustomAttributeBuilder> add = (name, attribute) =>
            type.DefineField(name, typeof(int), FieldAttributes.Public).SetCustomAttribute(attribute);
        Action<string, Type> named = (name, value) => add(name, new CustomAttributeBuilder(byType, new object[] { value }));
        named("itself", type);
        named("definition", typeof(List<>));
        named("instance", type.MakeGenericType(typeof(int)));
        named("variable", variable);
        named("array", variable.MakeArrayType());
        named("list", typeof(List<>).MakeGenericType(variable));
        named("lists", typeof(Dictionary<,>).MakeGenericType(typeof(int), typeof(List<>).MakeGenericType(variable)));
        named("other", typeof(List<>).GetGenericArguments()[0]);
        add("property", new CustomAttributeBuilder(typeof(NamesAttribute).GetConstructor(Type.EmptyTypes), new object[0],
            new[] { typeof(NamesAttribute).GetProperty("Property") }, new object[] { variable }));
        add("object", new CustomAttributeBuilder(byValue, new object[] { variable }));
        Action<string, ConstructorInfo, byte[]> raw = (name, constructor, blob) =>
            type.DefineField(name, typeof(int), FieldAttributes.Public).SetCustomAttribute(constructor, blob);
        raw("nowhere", byType, Blob(new byte[0], "Nowhere, nobody"));
        raw("boxed", byValue, Blob(new byte[] { 0x50 }, "Nowhere, nobody"));
        raw("enum", byValue, Blob(new byte[] { 0x55 }, "Nowhere, nobody", 0, 0, 0, 0));
        raw("enums", byValue, Blob(new byte[] { 0x1D, 0x55 }, "Nowhere, nobody", 0, 0, 0, 0));
        foreach (var field in type.CreateType().GetFields())
        {
            Show(field.Name, () => ((NamesAttribute)field.GetCustomAttributes(true)[0]).Named);
            Show(field.Name + " data", () => CustomAttributeData.GetCustomAttributes(field)[0]);
        }
    }
}
