using System; using System.Threading; using System.Runtime.CompilerServices;
public static class Ends {
  [MethodImpl (MethodImplOptions.InternalCall)] public static extern void Exit ();
  public static void Start () { var t = new Thread (() => { Exit (); Console.WriteLine ("not reached"); }); t.Start (); t.Join (); Console.WriteLine ("a managed thread has ended: " + t.IsAlive); }
  public static void LoadXml () { System.Reflection.Assembly.Load ("System.Xml, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089"); }
  public static void Code () { Environment.ExitCode = 7; }
}
