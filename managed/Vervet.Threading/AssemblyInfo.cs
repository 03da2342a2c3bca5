using System.Reflection;

[assembly: AssemblyTitle("Vervet.Threading")]
[assembly: AssemblyDescription("What programs can ask about green threads, and choose for them")]
[assembly: AssemblyVersion("1.0.0.0")]
