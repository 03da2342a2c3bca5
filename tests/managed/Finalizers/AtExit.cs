// At the end of the process all finalizers run, once each, on their thread, critical ones last. The order of the others
// is nobody's business: they are printed sorted.
// exit: 7
using System;
using System.Runtime.ConstrainedExecution;
using System.Runtime.InteropServices;
using System.Threading;

static class Out
{
    [DllImport ("libc")] static extern IntPtr write (int fd, byte [] bytes, IntPtr count);
    // The console's streams are finalized too.
    public static void Say (string text)
    {
        if (!ended)
            Write (text);
        else
            lines.Add (text);
    }
    static readonly System.Collections.Generic.List<string> lines = new System.Collections.Generic.List<string> ();
    public static volatile bool ended;
    public static void WriteAll ()
    {
        lines.Sort (string.CompareOrdinal);
        lines.ForEach (Write);
    }
    static void Write (string text)
    {
        var bytes = System.Text.Encoding.ASCII.GetBytes (text + "\n");
        write (1, bytes, (IntPtr) bytes.Length);
    }
}
class Plain
{
    readonly int number;
    public Plain (int number) { this.number = number; }
    ~Plain ()
    {
        Out.Say ("plain " + number + ", " + Thread.CurrentThread.Name + ", shut down " + Environment.HasShutdownStarted);
    }
}
class Critical : CriticalFinalizerObject { ~Critical () { Out.WriteAll (); Out.ended = false; Out.Say ("critical"); } }
class Again { int times; ~Again () { Out.Say ("again " + ++times); GC.ReRegisterForFinalize (this); } }
class Maker { ~Maker () { new Maker (); Out.Say ("maker"); } }
class Waiter { ~Waiter () { GC.WaitForPendingFinalizers (); GC.Collect (); Out.Say ("waited"); } }
class Never { ~Never () { Out.Say ("WRONG"); } }
class Once { ~Once () { Out.Say ("once"); } }
class Failed { public Failed () { throw new Exception (); } ~Failed () { Out.Say ("its constructor threw"); } }

static class AtExit
{
    static object [] kept;
    static int Main ()
    {
        // The last line, because critical.
        kept = new object [] { new Critical (), new Plain (1), new Plain (2), new Again (), new Maker (), new Waiter (), new Never (), new Once () };
        GC.SuppressFinalize (kept [6]);
        GC.SuppressFinalize (kept [7]);
        GC.ReRegisterForFinalize (kept [7]);
        GC.ReRegisterForFinalize (kept [7]);
        try { new Failed (); } catch (Exception) { }
        AppDomain.CurrentDomain.ProcessExit += (s, e) => Out.Say ("ProcessExit, shut down " + Environment.HasShutdownStarted);
        AppDomain.CurrentDomain.ProcessExit += (s, e) => Out.ended = true;
        Out.Say ("Main ends");
        return 7;
    }
}
