using System; using System.Reflection;
public class Hooks {
  public static int Load (string name) {
    try { Console.WriteLine ("  got " + Assembly.Load (name).GetName ().Name); return 1; }
    catch (Exception e) { Console.WriteLine ("  " + e.GetType ().Name); return 0; }
  }
  public static int LoadBytes (string path) { Console.WriteLine ("  got " + Assembly.Load (System.IO.File.ReadAllBytes (path)).GetName ().Name); return 1; }
  public static int LoadFrom (string path) { Console.WriteLine ("  got " + Assembly.LoadFrom (path).GetName ().Name); return 1; }
  public static void Listen () { AppDomain.CurrentDomain.AssemblyLoad += (s, a) => { Console.WriteLine ("  event " + a.LoadedAssembly.GetName ().Name);
     if (Throws) throw new InvalidOperationException ("from AssemblyLoad"); };
     AppDomain.CurrentDomain.AssemblyResolve += (s, a) => { Console.WriteLine ("  resolve " + a.Name.Split (',')[0]); return null; }; }
  public static bool Throws;
  public static int Throw (string name) { Throws = true; try { Console.WriteLine ("  got " + Assembly.Load (name).GetName ().Name);} catch (Exception e) { Console.WriteLine ("  caught " + e.Message); } Throws = false; return 0; }
  public static int UseRef () { try { return new One.Thing ().Number (); } catch (Exception e) { Console.WriteLine ("  caught " + e.GetType ().Name); return -1; } }
}
