// Custom modifiers come back in the order in which they were given, from a type that runs and from its file.
// mcs: -r:System.dll
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

class ModifierOrder
{
	static void Main ()
	{
		var folder = Path.GetTempFileName ();
		File.Delete (folder);
		Directory.CreateDirectory (folder);
		var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly (new AssemblyName ("modifiers"), AssemblyBuilderAccess.RunAndSave, folder);
		var module = assembly.DefineDynamicModule ("modifiers.dll", "modifiers.dll");
		var type = module.DefineType ("T", TypeAttributes.Public);
		Type[] all = { typeof (IsLong), typeof (IsConst), typeof (IsVolatile) };
		type.DefineField ("f", typeof (int), null, all, FieldAttributes.Public);
		var method = type.DefineMethod ("M", MethodAttributes.Public | MethodAttributes.Static, CallingConventions.Standard,
			typeof (int), all, new[] { typeof (IsBoxed) }, new[] { typeof (int) }, new[] { all }, new[] { new[] { typeof (IsLong) } });
		var il = method.GetILGenerator ();
		il.Emit (OpCodes.Ldc_I4_0);
		il.Emit (OpCodes.Ret);
		Show (type.CreateType ());
		assembly.Save ("modifiers.dll");
		Show (Assembly.LoadFile (Path.Combine (folder, "modifiers.dll")).GetType ("T"));
		Directory.Delete (folder, true);
	}

	static void Show (Type t)
	{
		var method = t.GetMethod ("M");
		Write (t.GetField ("f").GetOptionalCustomModifiers ()); // expect: IsLong IsConst IsVolatile
		Write (method.ReturnParameter.GetRequiredCustomModifiers ()); // expect: IsLong IsConst IsVolatile
		Write (method.ReturnParameter.GetOptionalCustomModifiers ()); // expect: IsBoxed
		Write (method.GetParameters ()[0].GetRequiredCustomModifiers ()); // expect: IsLong IsConst IsVolatile
		Write (method.GetParameters ()[0].GetOptionalCustomModifiers ()); // expect: IsLong
		// expect: IsLong IsConst IsVolatile
		// expect: IsLong IsConst IsVolatile
		// expect: IsBoxed
		// expect: IsLong IsConst IsVolatile
		// expect: IsLong
	}

	static void Write (Type[] types)
	{
		Console.WriteLine (string.Join (" ", types.Select (t => t.Name)));
	}
}
