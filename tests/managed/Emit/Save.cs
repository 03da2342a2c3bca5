// An assembly that is saved, run, and read back: types, generics, attributes, resources, initial values, version information.
// exit: 1
using System; using System.IO; using System.Reflection; using System.Reflection.Emit; using System.Collections.Generic; using System.Linq; using System.Resources;
[AttributeUsage(AttributeTargets.All)] public class Mark : Attribute { public string S; public Mark(int n) {} }
class Save
{
    static void Main()
    {
    string dir = Path.Combine(Path.GetTempPath(), "vervet-save-" + System.Diagnostics.Process.GetCurrentProcess().Id);
    Directory.CreateDirectory(dir);
    try { Build(dir); Read(dir); } finally { Directory.Delete(dir, true); }
    }
    static void Read(string dir)
    {
    Console.WriteLine("exit code " + AppDomain.CurrentDomain.ExecuteAssembly(Path.Combine(dir, "saved.exe")));
    var asm = Assembly.LoadFrom(Path.Combine(dir, "saved.exe"));
    Console.WriteLine(asm.FullName + " " + asm.EntryPoint + " " + asm.GetCustomAttributesData()[0]);
    var all = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance | BindingFlags.DeclaredOnly;
    foreach (var t in asm.GetTypes()) {
      Console.WriteLine(t + " : " + t.BaseType + " " + t.Attributes + " " + string.Join(",", t.GetInterfaces().OrderBy(i => i.Name, StringComparer.Ordinal).Select(i => i.Name).ToArray()));
      foreach (var m in t.GetMembers(all)) Console.WriteLine("  " + m.MemberType + " " + m);
      foreach (var p in t.GetGenericArguments()) Console.WriteLine("  <" + p + "> " + p.GenericParameterAttributes + " " + string.Join(",", (object[])p.GetGenericParameterConstraints()));
    }
    var foo = asm.GetType("N.Impl").GetMethod("Foo");
    Console.WriteLine(foo.GetParameters()[0].Name + "=" + foo.GetParameters()[0].DefaultValue + " " + ((Mark)foo.GetCustomAttributes(typeof(Mark), false)[0]).S);
    Console.WriteLine(asm.GetType("N.Impl").GetField("C").GetRawConstantValue() + " " + System.Runtime.InteropServices.Marshal.SizeOf(asm.GetType("N.Impl+Inner")));
    foreach (var n in asm.GetManifestResourceNames()) {
      var info = asm.GetManifestResourceInfo(n);
      using (var stream = asm.GetManifestResourceStream(n)) Console.WriteLine(n + " " + info.ResourceLocation + " " + info.FileName + " " + stream.Length);
    }
    var rm = new ResourceManager("res", asm);
    Console.WriteLine(rm.GetString("key"));
    var v = System.Diagnostics.FileVersionInfo.GetVersionInfo(Path.Combine(dir, "saved.exe"));
    Console.WriteLine(v.ProductName + " " + v.CompanyName + " " + v.ProductVersion + " " + v.LegalCopyright);
    }
    static void Build(string dir)
    {
    var an = new AssemblyName("saved") { Version = new Version(1,2,3,4) };
    var ab = AppDomain.CurrentDomain.DefineDynamicAssembly(an, AssemblyBuilderAccess.RunAndSave, dir);
    ab.SetCustomAttribute(new CustomAttributeBuilder(typeof(AssemblyTitleAttribute).GetConstructor(new[]{typeof(string)}), new object[]{"title"}));
    ab.DefineVersionInfoResource("prod", "1.2.3.4", "comp", "copy", "tm");
    var m = ab.DefineDynamicModule("savedm", "saved.exe");
    // struct with rva
    var data = m.DefineInitializedData("Data", new byte[]{1,2,3,4,5,6,7,8}, FieldAttributes.Public);
    m.CreateGlobalFunctions();
    var iface = m.DefineType("N.IFoo", TypeAttributes.Public|TypeAttributes.Interface|TypeAttributes.Abstract);
    var ifm = iface.DefineMethod("Foo", MethodAttributes.Public|MethodAttributes.Abstract|MethodAttributes.Virtual|MethodAttributes.NewSlot|MethodAttributes.HideBySig, typeof(int), new[]{typeof(string)});
    var g = m.DefineType("N.Gen", TypeAttributes.Public);
    var gps = g.DefineGenericParameters("T", "U");
    gps[0].SetGenericParameterAttributes(GenericParameterAttributes.ReferenceTypeConstraint);
    gps[1].SetInterfaceConstraints(typeof(IComparable));
    var gf = g.DefineField("f", gps[0], FieldAttributes.Public);
    var lst = g.DefineField("l", typeof(List<>).MakeGenericType(gps[1]), FieldAttributes.Public);
    var t = m.DefineType("N.Impl", TypeAttributes.Public, typeof(object), new[]{iface});
    var nested = t.DefineNestedType("Inner", TypeAttributes.NestedPublic|TypeAttributes.SequentialLayout, typeof(ValueType), PackingSize.Size2, 20);
    nested.DefineField("x", typeof(int), FieldAttributes.Public);
    var fld = t.DefineField("count", typeof(int), FieldAttributes.Private);
    var cst = t.DefineField("C", typeof(int), FieldAttributes.Public|FieldAttributes.Static|FieldAttributes.Literal); cst.SetConstant(42);
    var foo = t.DefineMethod("Foo", MethodAttributes.Public|MethodAttributes.Virtual|MethodAttributes.HideBySig, typeof(int), new[]{typeof(string)});
    var pb = foo.DefineParameter(1, ParameterAttributes.Optional|ParameterAttributes.HasDefault, "text"); pb.SetConstant("dflt");
    foo.SetCustomAttribute(new CustomAttributeBuilder(typeof(Mark).GetConstructor(new[]{typeof(int)}), new object[]{3}, new[]{typeof(Mark).GetField("S")}, new object[]{"s"}));
    var il = foo.GetILGenerator();
    var loc = il.DeclareLocal(typeof(int));
    il.BeginExceptionBlock();
    il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Callvirt, typeof(string).GetProperty("Length").GetGetMethod()); il.Emit(OpCodes.Stloc, loc);
    il.BeginCatchBlock(typeof(NullReferenceException));
    il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ldc_I4_M1); il.Emit(OpCodes.Stloc, loc);
    il.EndExceptionBlock();
    il.Emit(OpCodes.Ldloc, loc); il.Emit(OpCodes.Ret);
    var prop = t.DefineProperty("Count", PropertyAttributes.None, typeof(int), null);
    var get = t.DefineMethod("get_Count", MethodAttributes.Public|MethodAttributes.SpecialName, typeof(int), Type.EmptyTypes);
    il = get.GetILGenerator(); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, fld); il.Emit(OpCodes.Ret);
    prop.SetGetMethod(get);
    var ctor = t.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, new[]{typeof(int)});
    il = ctor.GetILGenerator(); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Call, typeof(object).GetConstructor(Type.EmptyTypes)); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Stfld, fld); il.Emit(OpCodes.Ret);
    var gm = t.DefineMethod("Gm", MethodAttributes.Public|MethodAttributes.Static);
    var gmp = gm.DefineGenericParameters("V"); gm.SetReturnType(gmp[0].MakeArrayType()); gm.SetParameters(gmp[0]);
    il = gm.GetILGenerator(); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Newarr, gmp[0]); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Ldc_I4_0); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Stelem, gmp[0]); il.Emit(OpCodes.Ret);
    var pi = t.DefinePInvokeMethod("getpid", "libc", MethodAttributes.Public|MethodAttributes.Static|MethodAttributes.PinvokeImpl, CallingConventions.Standard, typeof(int), Type.EmptyTypes, System.Runtime.InteropServices.CallingConvention.Cdecl, System.Runtime.InteropServices.CharSet.Ansi);
    pi.SetImplementationFlags(MethodImplAttributes.PreserveSig);
    var en = m.DefineEnum("N.E", TypeAttributes.Public, typeof(byte)); en.DefineLiteral("A", (byte)1); en.DefineLiteral("B", (byte)2); en.CreateType();
    var p = m.DefineType("Program", TypeAttributes.NotPublic|TypeAttributes.Abstract|TypeAttributes.Sealed);
    var main = p.DefineMethod("Main", MethodAttributes.Public|MethodAttributes.Static, typeof(int), new[]{typeof(string[])});
    il = main.GetILGenerator();
    il.Emit(OpCodes.Ldc_I4_5); il.Emit(OpCodes.Newobj, ctor); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Callvirt, get); il.Emit(OpCodes.Call, typeof(Console).GetMethod("WriteLine", new[]{typeof(int)}));
    il.Emit(OpCodes.Dup); il.Emit(OpCodes.Ldnull); il.Emit(OpCodes.Callvirt, ifm); il.Emit(OpCodes.Call, typeof(Console).GetMethod("WriteLine", new[]{typeof(int)}));
    il.Emit(OpCodes.Ldstr, "h\u00e9llo"); il.Emit(OpCodes.Callvirt, ifm); il.Emit(OpCodes.Call, typeof(Console).GetMethod("WriteLine", new[]{typeof(int)}));
    il.Emit(OpCodes.Ldstr, "gm"); il.Emit(OpCodes.Call, gm.MakeGenericMethod(typeof(string))); il.Emit(OpCodes.Ldlen); il.Emit(OpCodes.Conv_I4); il.Emit(OpCodes.Call, typeof(Console).GetMethod("WriteLine", new[]{typeof(int)}));
    il.Emit(OpCodes.Ldc_I4_8); il.Emit(OpCodes.Newarr, typeof(byte)); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Ldtoken, data); il.Emit(OpCodes.Call, typeof(System.Runtime.CompilerServices.RuntimeHelpers).GetMethod("InitializeArray")); il.Emit(OpCodes.Ldc_I4_7); il.Emit(OpCodes.Ldelem_U1); il.Emit(OpCodes.Call, typeof(Console).GetMethod("WriteLine", new[]{typeof(int)}));
    var gi = g.MakeGenericType(typeof(string), typeof(int));
    var gctor = g.DefineDefaultConstructor(MethodAttributes.Public);
    il.Emit(OpCodes.Newobj, TypeBuilder.GetConstructor(gi, gctor)); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Ldstr, "gen"); il.Emit(OpCodes.Stfld, TypeBuilder.GetField(gi, gf)); il.Emit(OpCodes.Ldfld, TypeBuilder.GetField(gi, gf)); il.Emit(OpCodes.Call, typeof(Console).GetMethod("WriteLine", new[]{typeof(string)}));
    il.Emit(OpCodes.Call, pi); il.Emit(OpCodes.Ldc_I4_0); il.Emit(OpCodes.Cgt); il.Emit(OpCodes.Ret);
    ab.SetEntryPoint(main, PEFileKinds.ConsoleApplication);
    var rw = m.DefineResource("res.resources", "desc", ResourceAttributes.Public); rw.AddResource("key", "value");
    m.DefineManifestResource("raw", new MemoryStream(new byte[]{9,8,7}), ResourceAttributes.Private);
    File.WriteAllText(Path.Combine(dir, "linked.txt"), "linked!"); ab.AddResourceFile("linked", "linked.txt");
    iface.CreateType(); g.CreateType(); var ti = t.CreateType(); nested.CreateType(); p.CreateType();
    Console.WriteLine("{0:x} {1:x} {2:x}", foo.GetToken().Token, ctor.GetToken().Token, main.GetToken().Token);
    ab.Save("saved.exe");
    Console.WriteLine("{0:x} {1:x} {2:x}", foo.GetToken().Token, ctor.GetToken().Token, main.GetToken().Token);
    Console.WriteLine(((Delegate)(Func<int>)(() => 1)).DynamicInvoke());
    Console.WriteLine(ti.GetConstructors()[0].Invoke(new object[]{7}).GetType().GetMethod("get_Count").Invoke(Activator.CreateInstance(ti, 7), null));
  }
}
