// AssemblyResolve says which assembly requests what only for references: a name that the program gives is requested by none.
using System;
using System.Reflection;

static class WhoAsks
{
    static void Try(Action action)
    {
        try
        {
            action();
        }
        catch (Exception e)
        {
            Console.WriteLine(e.GetType().Name);
        }
    }

    static void Main()
    {
        AppDomain.CurrentDomain.AssemblyResolve += (sender, args) =>
        {
            Console.WriteLine("{0} by {1}", args.Name, args.RequestingAssembly == null ? "nobody" : args.RequestingAssembly.GetName().Name);
            return null;
        };
        Try(() => Type.GetType("Type, first")); // expect: first, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null by nobody
        Try(() => Type.GetType("Type, second", true)); // expect: second, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null by nobody
        // expect: TypeLoadException
        Try(() => Type.GetType("System.Collections.Generic.List`1[[Type, third]]")); // expect: third, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null by nobody
        Try(() => Assembly.Load("fourth")); // expect: fourth by nobody
        // expect: FileNotFoundException
        Try(() => Activator.CreateInstance("fifth", "Type")); // expect: fifth by nobody
        // expect: FileNotFoundException
    }
}
