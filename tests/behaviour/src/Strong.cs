using System.Reflection;
[assembly: AssemblyVersion(Strong.V)]
#if !NOKEY
[assembly: AssemblyKeyFile("key.snk")]
#endif
public class Strong {
#if TWO
    public const string V = "2.0.0.0";
#else
    public const string V = "1.0.0.0";
#endif
    public static readonly string Which = V;
}
