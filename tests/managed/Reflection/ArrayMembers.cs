// The accessors of arrays in mono's order, without tokens.
using System;
using System.Reflection;

static class ArrayMembers
{
    static void Main()
    {
        foreach (Type type in new[] { typeof(int[]), typeof(string[,]), typeof(int[][]) })
        {
            Console.WriteLine(type);
            foreach (MethodInfo method in type.GetMethods(BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly))
                Console.WriteLine(method + " " + method.MetadataToken.ToString("x"));
            foreach (ConstructorInfo constructor in type.GetConstructors())
                Console.WriteLine(constructor + " " + constructor.MetadataToken.ToString("x"));
        }
    }
}
