using System.Reflection;
[assembly: AssemblyVersion("1.2.0.0")]
public class Lib {
#if !OLD
    public static string field = "field";
    public static void Method(int a, string b) { System.Console.WriteLine("{0}", typeof(Lib).Assembly.FullName); }
    public virtual void Virtual() { System.Console.WriteLine("virtual"); }
#endif
    public static string Where() { return typeof(Lib).Assembly.Location; }
}
#if !OLD
public class Gone { public int x; }
public struct GoneStruct { public int x; }
public interface IGone { void M(); }
#endif
