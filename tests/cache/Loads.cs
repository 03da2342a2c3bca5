// Which assemblies two methods load when they are compiled depends on what the process knows by then.
//
//   Loads.exe guess [q]      with `q` the compiler knows a receiver whose method needs LoadsD
//   Loads.exe class [early]  with `early` a class is initialised before the reference to its assembly is bound
using System;
using System.Reflection;
using System.Runtime.CompilerServices;

interface I { int Go (); }
class P : I { public int Go () { return 7; } }
class Q : I { public int Go () { return D.Get (); } }

class Loads
{
	[MethodImpl (MethodImplOptions.NoInlining)]
	static int Guess (I i) { int n = C.Get (); for (int k = 0; k < 3; k++) n += i.Go (); return n; }
	[MethodImpl (MethodImplOptions.NoInlining)]
	static int Class () { int n = 0; for (int i = 0; i < 2; i++) n += X.Get (); for (int i = 0; i < 3; i++) n += C.Get (); return n; }
	[MethodImpl (MethodImplOptions.NoInlining)]
	static I MakeQ () { return new Q (); }
	[MethodImpl (MethodImplOptions.NoInlining)]
	static I MakeP () { return new P (); }

	static void Main (string[] args)
	{
		AppDomain.CurrentDomain.AssemblyLoad += (sender, e) => Console.WriteLine ("loaded " + e.LoadedAssembly.GetName ().Name);
		bool other = args.Length > 1;
		if (args[0] == "guess") {
			if (other)
				MakeQ ();
			I i = MakeP ();
			Console.WriteLine ("before");
			Console.WriteLine (Guess (i));
		} else {
			if (other)
				RuntimeHelpers.RunClassConstructor (Assembly.Load ("LoadsB").GetType ("Z").TypeHandle);
			Console.WriteLine ("before");
			Console.WriteLine (Class ());
		}
		Console.WriteLine ("after");
	}
}
