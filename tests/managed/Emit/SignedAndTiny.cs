using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

// An assembly with a public key has its token before it is saved; bodies are written with the headers that mono chooses.
static class SignedAndTiny
{
    static void Method(TypeBuilder type, string name, bool init, Action<ILGenerator> body)
    {
        var m = type.DefineMethod(name, MethodAttributes.Public | MethodAttributes.Static, typeof(void), null);
        m.InitLocals = init;
        var g = m.GetILGenerator();
        body(g);
        g.Emit(OpCodes.Ret);
    }
    static void Nops(ILGenerator g, int n) { for (int i = 0; i < n; i++) g.Emit(OpCodes.Nop); }
    static void Pushes(ILGenerator g, int n)
    {
        for (int i = 0; i < n; i++) g.Emit(OpCodes.Ldc_I4_1);
        for (int i = 0; i < n; i++) g.Emit(OpCodes.Pop);
    }

    static void Main()
    {
        var folder = Path.Combine(Path.GetTempPath(), "signed-" + Guid.NewGuid().ToString("N"));
        Directory.CreateDirectory(folder);
        try {
            var name = new AssemblyName("Signed");
            name.SetPublicKey(typeof(object).Assembly.GetName().GetPublicKey());
            var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndSave, folder);
            Console.WriteLine(assembly.FullName); // expect: Signed, Version=0.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089
            Console.WriteLine(BitConverter.ToString(assembly.GetName().GetPublicKeyToken())); // expect: B7-7A-5C-56-19-34-E0-89
            var module = assembly.DefineDynamicModule("Signed", "Signed.dll");
            var type = module.DefineType("T", TypeAttributes.Public);
            Method(type, "One", true, g => { });
            Method(type, "NoInit", false, g => { });
            Method(type, "Odd31", true, g => Nops(g, 30));
            Method(type, "Odd33", true, g => Nops(g, 32));
            Method(type, "Even62", true, g => Nops(g, 61));
            Method(type, "Odd63", true, g => Nops(g, 62));
            Method(type, "Even64", true, g => Nops(g, 63));
            Method(type, "Stack8", true, g => Pushes(g, 8));
            Method(type, "Stack9", true, g => Pushes(g, 9));
            Method(type, "Local", true, g => g.DeclareLocal(typeof(int)));
            var made = type.CreateType();
            Console.WriteLine(made.AssemblyQualifiedName); // expect: T, Signed, Version=0.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089
            assembly.Save("Signed.dll");
            var saved = Assembly.LoadFile(Path.Combine(folder, "Signed.dll"));
            foreach (var m in saved.GetType("T").GetMethods(BindingFlags.Public | BindingFlags.Static)) {
                var body = m.GetMethodBody();
                Console.WriteLine("{0} {1} {2} {3}", m.Name, body.MaxStackSize, body.InitLocals, body.GetILAsByteArray().Length);
            }
            // expect: One 8 False 1
            // expect: NoInit 8 False 1
            // expect: Odd31 8 False 31
            // expect: Odd33 0 True 33
            // expect: Even62 8 False 62
            // expect: Odd63 0 True 63
            // expect: Even64 0 True 64
            // expect: Stack8 8 False 17
            // expect: Stack9 9 True 19
            // expect: Local 0 True 1
        } finally { Directory.Delete(folder, true); }
    }
}
