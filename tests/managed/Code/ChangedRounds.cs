// tiers: all
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Security.Cryptography;

// Where a cipher's object is not as the class library makes it, or the class is another one of the same name, the method itself runs.
static class ChangedRounds
{
    static string Result(int rounds)
    {
        try {
            var transform = new RijndaelManaged { Key = new byte[16], IV = new byte[16], Mode = CipherMode.ECB, Padding = PaddingMode.None }.CreateEncryptor();
            transform.GetType().GetField("m_Nr", BindingFlags.NonPublic | BindingFlags.Instance).SetValue(transform, rounds);
            var to = new byte[16];
            transform.TransformBlock(new byte[16], 0, 16, to, 0);
            return BitConverter.ToString(to);
        } catch (Exception e) { return e.GetType().Name; }
    }

    static void Main()
    {
        foreach (int rounds in new[] { 10, 9, 5, 2 }) Console.WriteLine("{0} {1}", rounds, Result(rounds));

        var name = new AssemblyName("System.Core") { Version = new Version(4, 0, 0, 0) };
        name.SetPublicKey(typeof(object).Assembly.GetName().GetPublicKey());
        var module = AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.Run).DefineDynamicModule("m");
        var type = module.DefineType("System.Security.Cryptography.AesTransform", TypeAttributes.Public);
        var rounds128 = type.DefineField("Nr", typeof(int), FieldAttributes.Public);
        var step = type.DefineMethod("Encrypt128", MethodAttributes.Public, null, new[] { typeof(byte[]), typeof(byte[]), typeof(uint[]) });
        var g = step.GetILGenerator();
        g.Emit(OpCodes.Ldarg_2); g.Emit(OpCodes.Ldc_I4_0); g.Emit(OpCodes.Ldc_I4, 77); g.Emit(OpCodes.Stelem_I1); g.Emit(OpCodes.Ret);
        var run = type.DefineMethod("Run", MethodAttributes.Public, null, new[] { typeof(byte[]), typeof(byte[]), typeof(uint[]) });
        g = run.GetILGenerator();
        g.Emit(OpCodes.Ldarg_0); g.Emit(OpCodes.Ldc_I4, 10); g.Emit(OpCodes.Stfld, rounds128);
        g.Emit(OpCodes.Ldarg_0); g.Emit(OpCodes.Ldarg_1); g.Emit(OpCodes.Ldarg_2); g.Emit(OpCodes.Ldarg_3); g.Emit(OpCodes.Call, step); g.Emit(OpCodes.Ret);
        var made = type.CreateType();
        var block = new byte[16];
        made.GetMethod("Run").Invoke(Activator.CreateInstance(made), new object[] { new byte[16], block, new uint[44] });
        Console.WriteLine(BitConverter.ToString(block));
    }
}
