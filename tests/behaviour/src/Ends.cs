using System;
using System.Runtime.CompilerServices;
using System.Threading;
class Broken { public static int X; static Broken() { throw new InvalidOperationException("cctor"); } }
class Nested { public static int Y; static Nested() { Y = Broken.X + 1; } }
class BadText : Exception { public override string ToString() { throw new Exception("no text"); } }
class Ends {
    [MethodImpl(MethodImplOptions.NoInlining)] static void Throw(string s) { throw new ArgumentException(s, "name"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Through(string s) { try { Throw(s); } finally { Console.WriteLine("finally"); } }
    static void Wrap() { try { Through("inner"); } catch (Exception e) { throw new ApplicationException("outer", e); } }
    static void Again() { try { Throw("again"); } catch (Exception) { Console.WriteLine("caught"); throw; } }
    static void Reset() { try { Throw("reset"); } catch (Exception e) { throw e; } }
    [MethodImpl(MethodImplOptions.NoInlining)] static T Generic<T>(T[] a, ref int i, out string s, params object[] rest) where T : class { s = null; return (T)rest[i]; }
    static int Deep(int n) { return n == -1 ? 0 : Deep(n + 1) + 1; }
    class Inner<T> { internal T Get(T t, System.Collections.Generic.List<string> l) { object o = l; return (T)(object)l.Count.ToString(); } }
    static void Handler(object sender, UnhandledExceptionEventArgs e) {
        Console.WriteLine("handler {0} {1} {2}", sender.GetType(), e.ExceptionObject.GetType(), e.IsTerminating);
    }
    static int Main(string[] args) {
        AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine("ProcessExit {0} {1}", e == null, Environment.HasShutdownStarted);
        string what = args[0];
        for (int i = 1; i < args.Length; i++)
            switch (args[i]) {
            case "handler": AppDomain.CurrentDomain.UnhandledException += Handler; break;
            case "handler-exit": AppDomain.CurrentDomain.UnhandledException += (s, e) => Environment.Exit(7); break;
            case "handler-throw": AppDomain.CurrentDomain.UnhandledException += (s, e) => { throw new Exception("in handler"); }; break;
            case "exit-code": AppDomain.CurrentDomain.ProcessExit += (s, e) => Environment.ExitCode = 12; break;
            case "exit-throw": AppDomain.CurrentDomain.ProcessExit += (s, e) => { throw new Exception("in ProcessExit"); }; break;
            case "exit-last": AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine("last"); break;
            case "exit-exit": AppDomain.CurrentDomain.ProcessExit += (s, e) => Environment.Exit(13); break;
            case "code": Environment.ExitCode = 9; break;
            }
        switch (what) {
        case "return": return args.Length > 1 && args[1] == "300" ? 300 : 4;
        case "throw": Through("oops"); break;
        case "wrap": Wrap(); break;
        case "again": Again(); break;
        case "reset": Reset(); break;
        case "null": { string s = args.Length > 99 ? "" : null; return s.Length; }
        case "index": return args[77].Length;
        case "zero": return 1 / (args.Length - int.Parse(args[1]));
        case "cast": { object o = args; return ((string)o).Length; }
        case "parse": return int.Parse("x1");
        case "cctor": return Broken.X;
        case "cctor2": return Nested.Y;
        case "cctor-twice": try { return Broken.X; } catch (TypeInitializationException e) { Console.WriteLine(e.Message); } return Broken.X;
        case "generic": { int i = 0; string s; Generic<string>(null, ref i, out s, new object()); break; }
        case "inner": new Inner<int>().Get(1, new System.Collections.Generic.List<string>()); break;
        case "lambda": { Action a = () => Throw("lambda"); a(); break; }
        case "list": { var l = new System.Collections.Generic.List<int>(); return l[3]; }
        case "dictionary": { var l = new System.Collections.Generic.Dictionary<string, int>(); return l["k"]; }
        case "linq": foreach (var x in Lazy()) Console.WriteLine(x); break;
        case "invoke": typeof(Ends).GetMethod("Throw", System.Reflection.BindingFlags.Static | System.Reflection.BindingFlags.NonPublic).Invoke(null, new object[] { "r" }); break;
        case "aggregate": throw new AggregateException("all", new Exception("a"), new Exception("b"));
        case "bad-text": throw new BadText();
        case "exit": Environment.Exit(int.Parse(args[1])); break;
        case "overflow": return Deep(0);
        case "fail-fast": Environment.FailFast(args[1]); break;
        case "fail-fast-null": Environment.FailFast(null); break;
        case "abort": try { Thread.CurrentThread.Abort("why"); } catch (ThreadAbortException e) { Console.WriteLine("caught {0}", e.ExceptionState); } Console.WriteLine("not reached"); break;
        case "abort-finally": try { Thread.CurrentThread.Abort(); } finally { Console.WriteLine("finally"); } break;
        case "abort-reset": try { Thread.CurrentThread.Abort("why"); } catch (ThreadAbortException) { Thread.ResetAbort(); Console.WriteLine("reset"); } Console.WriteLine("goes on"); break;
        case "abort-general":
            try { try { Thread.CurrentThread.Abort(); } catch (Exception e) { Console.WriteLine("1 {0}", e.GetType()); } Console.WriteLine("not reached"); }
            catch (ThreadAbortException e) { Console.WriteLine("2 {0} {1}", e.Message, Thread.CurrentThread.ThreadState); Thread.ResetAbort(); }
            Console.WriteLine("end {0}", Thread.CurrentThread.ThreadState); break;
        case "reset-idle": Thread.ResetAbort(); break;
        case "dispatch": try { Throw("captured"); } catch (Exception e) { System.Runtime.ExceptionServices.ExceptionDispatchInfo.Capture(e).Throw(); } break;
        case "trace": Console.WriteLine(Environment.StackTrace); Console.WriteLine(new System.Diagnostics.StackTrace(false)); break;
        }
        return 0;
    }
    static System.Collections.Generic.IEnumerable<int> Lazy() { yield return 1; Throw("lazy"); }
}
