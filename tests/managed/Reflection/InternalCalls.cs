// Internal calls called by reflection with odd arguments: each ends with a result or a managed exception, never with the
// process. A case's number and text go to stderr before it runs, so that what ended the process is the last line.
// timeout: 180
// gc-debug: no, it would verify the heap for minutes
// Arguments: first case, number of cases for each method, seed, last case, anything to see what each ends with.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Serialization;
using System.Threading;

enum Small : byte { A, B }
struct Pair { public int A; public string B; }
interface IThing { void Do(); }
abstract class Abstract { public abstract void Do(); }
class Plain {
    public int Field; public static string Static = "s"; public const int Literal = 3; public readonly int Fixed = 1;
    public Plain() {} public Plain(int x) { Field = x; }
    public int Method(int a, ref string b) { return a; }
    public T Generic<T>(T t) where T : class { return t; }
    public int Property { get; set; }
    public event Action Event;
    public void Raise() { if (Event != null) Event(); }
}
class Constrained<T> where T : Plain, new() { public T Value; }

static unsafe class Program {
    // What takes a raw address, a handle as an address, or an object's insides: nothing can be checked, and mono crashes too.
    static readonly string[] Raw = {
        "System.Runtime.InteropServices.Marshal::", "System.Buffer::Memcpy", "System.Buffer::MemoryCopy", "System.String::memcpy",
        "Mono.Runtime::", "Mono.RuntimeMarshal::", "Mono.SafeStringMarshal::", "Mono.RuntimeGPtrArrayHandle::",
        "System.Threading.Volatile::", "System.Threading.Interlocked::", "System.Threading.Thread::Volatile",
        // They copy an element to or from the address of a variable that is said to be of its type.
        "System.Array::GetGenericValueImpl", "System.Array::SetGenericValueImpl",
    };
    // What ends, stops or blocks the process or the thread as its purpose, takes away its console or directory, or
    // allocates as much as it is told.
    static readonly string[] Apart = {
        "System.Environment::Exit", "System.Environment::FailFast", "System.Environment::set_ExitCode",
        "System.Threading.Thread::", "System.Threading.InternalThread::", "System.Threading.ThreadPool::",
        "System.ConsoleDriver::", "System.Diagnostics.Debugger::", 
        "System.IOSelector::", "System.GC::WaitForPendingFinalizers", "System.GC::WaitForFullGC",
        "System.IO.MonoIO::Close",
        "System.IO.MonoIO::Remove", "System.IO.MonoIO::Delete", "System.IO.MonoIO::SetCurrentDirectory",
        "System.String::.ctor", "System.String::FastAllocateString", "System.String::InternalAllocateStr", "System.AppDomain::ExecuteAssembly", "System.AppDomain::Unload", "System.AppDomain::Internal", "System.AppDomain::createDomain", "System.AppDomain::DoUnhandledException", "System.Runtime.RuntimeImports::",
    };

    // An IntPtr is a handle of a table here; elsewhere it may be an address, of which only null is told apart.
    static readonly string[] Handles = { "System.IO.MonoIO::", "System.Net.Sockets.Socket::", "System.Diagnostics.Process::", "System.Threading.WaitHandle::", "System.Threading.NativeEventCalls::", "System.Threading.Semaphore::", "System.Threading.Mutex::", "System.Runtime.InteropServices.GCHandle::" };

    static ulong state;
    static int Next(int n) {
        state ^= state << 13; state ^= state >> 7; state ^= state << 17;
        return (int)((state >> 11) % (ulong)n);
    }
    static T Pick<T>(params T[] from) { return from[Next(from.Length)]; }

    static readonly Type[] types = {
        typeof(int), typeof(string), typeof(object), typeof(void), typeof(int).MakeByRefType(), typeof(int).MakePointerType(),
        typeof(void).MakePointerType(), typeof(List<>), typeof(List<>).GetGenericArguments()[0], typeof(List<int>),
        typeof(Dictionary<,>), typeof(TypedReference), typeof(ArgIterator), typeof(int[]), typeof(int[,]), typeof(List<>).MakeArrayType(),
        typeof(Array), typeof(Enum), typeof(Small), typeof(Delegate), typeof(Action), typeof(Pair), typeof(int?), typeof(Nullable<>),
        typeof(IThing), typeof(Abstract), typeof(Plain), typeof(Constrained<>), typeof(Constrained<Plain>), typeof(ValueType),
        typeof(RuntimeTypeHandle), typeof(IntPtr), typeof(Program), typeof(Thread), typeof(ContextBoundObject),
        typeof(Plain).GetMethod("Generic").GetGenericArguments()[0], typeof(Exception), typeof(char), typeof(bool), typeof(double), typeof(decimal),
    };
    static readonly MethodInfo[] methods = {
        typeof(Plain).GetMethod("Method"), typeof(Plain).GetMethod("Generic"), typeof(Plain).GetMethod("Generic").MakeGenericMethod(typeof(string)),
        typeof(IThing).GetMethod("Do"), typeof(Abstract).GetMethod("Do"), typeof(string).GetMethod("IsNullOrEmpty"),
        typeof(List<>).GetMethod("Add"), typeof(List<int>).GetMethod("Add"), typeof(Action).GetMethod("Invoke"), typeof(int[,]).GetMethod("Get"),
        typeof(int).GetMethod("GetHashCode"), typeof(Array).GetMethod("get_Rank") ?? typeof(Array).GetProperty("Rank").GetGetMethod(),
    };
    static readonly FieldInfo[] fields = {
        typeof(Plain).GetField("Field"), typeof(Plain).GetField("Static"), typeof(Plain).GetField("Literal"), typeof(Plain).GetField("Fixed"),
        typeof(Constrained<>).GetField("Value"), typeof(Constrained<Plain>).GetField("Value"), typeof(Pair).GetField("B"), typeof(Small).GetField("A"),
        typeof(Small).GetField("value__"), typeof(int).GetField("MaxValue"),
    };

    static readonly List<object> pool = new List<object>();
    static void Fill() {
        pool.AddRange(types); pool.AddRange(methods); pool.AddRange(fields);
        pool.AddRange(typeof(Plain).GetConstructors()); pool.AddRange(typeof(Plain).GetProperties()); pool.AddRange(typeof(Plain).GetEvents());
        pool.AddRange(methods[0].GetParameters()); pool.Add(methods[0].GetMethodBody());
        pool.Add(typeof(Program).Assembly); pool.Add(typeof(Program).Module); pool.Add(typeof(object).Assembly); pool.Add(typeof(object).Module);
        pool.Add(AppDomain.CurrentDomain); pool.Add(Thread.CurrentThread); pool.Add(new Plain()); pool.Add(new object()); pool.Add(5); pool.Add(5L);
        pool.Add(Small.B); pool.Add(new Pair { B = "x" }); pool.Add(""); pool.Add("abc"); pool.Add(new string('a', 5000)); pool.Add("a\0b"); pool.Add("\ud800");
        pool.Add(new int[0]); pool.Add(new int[3]); pool.Add(new int[2, 2]); pool.Add(Array.CreateInstance(typeof(int), new[] { 2 }, new[] { 1 }));
        pool.Add(new object[] { null, "x", 3 }); pool.Add(new object[0]); pool.Add(new string[] { "a", null }); pool.Add(new Type[] { typeof(int), null }); pool.Add(new Type[0]);
        pool.Add(new byte[16]); pool.Add(new char[4]); pool.Add(new Pair[2]); pool.Add(new long[2]); pool.Add(new double[2]); pool.Add(new Guid[1]);
        pool.Add((Action)Fill); pool.Add((Func<int, int>)(x => x)); pool.Add(new Exception("e")); pool.Add(new System.Diagnostics.StackFrame());
        pool.Add(new System.Diagnostics.StackTrace()); var culture = new CultureInfo("en-US", false); pool.Add(culture); pool.Add(culture.CompareInfo); pool.Add(new ArgumentException());
        pool.Add(new WeakReference(pool)); pool.Add('c'); pool.Add(1.5); pool.Add(true); pool.Add(IntPtr.Zero); pool.Add(typeof(Program).Assembly.GetName());
        pool.Add(new int?[1]); pool.Add(new IntPtr[2]); pool.Add(new List<int>()); pool.Add(new Constrained<Plain>()); pool.Add(new DBNull[0].Length); pool.Add(Type.Missing); pool.Add(DBNull.Value);
        pool.Add(new RegionInfo("US")); pool.Add(System.Text.Encoding.UTF8);
    }

    static readonly Dictionary<Type, object[]> instances = new Dictionary<Type, object[]>();
    static object OfType(Type t) {
        object[] fit;
        if (!instances.TryGetValue(t, out fit)) {
            fit = pool.Where(o => t.IsInstanceOfType(o)).ToArray();
            instances[t] = fit;
        }
        if (fit.Length > 0) return fit[Next(fit.Length)];
        if (t.IsAbstract || t.IsInterface || t.IsArray || t.ContainsGenericParameters) return null;
        try { return Activator.CreateInstance(t, true); } catch (Exception) {}
        try { return FormatterServices.GetUninitializedObject(t); } catch (Exception) { return null; }
    }
    static readonly int[] ints = { 0, 0, 1, 1, 2, 3, -1, -1, -2, 16, 32, 33, 255, 256, 4096, 65536, int.MaxValue, int.MinValue, 0x40000000, int.MaxValue - 1, 0x02000001, 0x06000001, 0x0a000001 };
    static object Int(string name) {
        return name.IndexOf("timeout", StringComparison.OrdinalIgnoreCase) >= 0 || name.StartsWith("ms", StringComparison.Ordinal) ? 0 : Pick(ints);
    }
    static readonly GCHandle pinned = GCHandle.Alloc(new byte[1 << 16], GCHandleType.Pinned);
    static object Value(Type t, string name, bool handle) {
        if (t.IsByRef) return Value(t.GetElementType(), name, handle);
        if (t.IsPointer) return Pointer.Box(Next(4) == 0 ? null : (void*)pinned.AddrOfPinnedObject(), t);
        if (t.IsEnum) return Enum.ToObject(t, (long)(int)Int(name));
        switch (Type.GetTypeCode(t)) {
            case TypeCode.Boolean: return Next(2) == 0;
            case TypeCode.Char: return Pick('\0', 'a', '\ud800', '\uffff');
            case TypeCode.SByte: return (sbyte)(int)Int(name);
            case TypeCode.Byte: return (byte)(int)Int(name);
            case TypeCode.Int16: return (short)(int)Int(name);
            case TypeCode.UInt16: return (ushort)(int)Int(name);
            case TypeCode.Int32: return Int(name);
            case TypeCode.UInt32: return (uint)(int)Int(name);
            case TypeCode.Int64: return Next(3) == 0 ? Pick(long.MaxValue, long.MinValue) : (long)(int)Int(name);
            case TypeCode.UInt64: return (ulong)(int)Int(name);
            case TypeCode.Single: return Pick(0f, -1f, float.NaN, float.MaxValue, 1e30f);
            case TypeCode.Double: return Pick(0.0, -1.0, double.NaN, double.PositiveInfinity, 1e300, 0.1);
        }
        if (t == typeof(IntPtr)) return handle ? Pick(IntPtr.Zero, new IntPtr(-1), new IntPtr(77777)) : IntPtr.Zero;
        if (t == typeof(UIntPtr)) return UIntPtr.Zero;
        if (t == typeof(RuntimeTypeHandle)) return Next(4) == 0 ? default(RuntimeTypeHandle) : Pick(types).TypeHandle;
        if (t == typeof(RuntimeMethodHandle)) return Next(4) == 0 ? default(RuntimeMethodHandle) : Pick(methods).MethodHandle;
        if (t == typeof(RuntimeFieldHandle)) return Next(4) == 0 ? default(RuntimeFieldHandle) : Pick(fields).FieldHandle;
        if (t.IsValueType) { try { return FormatterServices.GetUninitializedObject(t); } catch (Exception) { return null; } }
        if (Next(5) == 0) return null;
        if (t == typeof(string)) return Pick("", "a", "abc", "System.Int32", "no/such/path", "x\0y", "\ud800", new string('q', 3000), "System.Collections.Generic.List`1[[", "a,b=c", "C", "en-US", "-", "{0}", "\u0130");
        return OfType(t);
    }
    static string Show(object o) {
        // An instance that no constructor made may not know its own name.
        try { return Text(o); } catch (Exception) { return o.GetType().ToString(); }
    }
    static string Text(object o) {
        if (o == null) return "null";
        if (o is string) { var s = (string)o; return "'" + (s.Length > 30 ? s.Substring(0, 10) + "*" + s.Length : s.Replace("\0", "\\0").Replace("\ud800", "\\ud800")) + "'"; }
        if (o is Type) return "typeof " + o;
        if (o.GetType().IsPrimitive || o.GetType().IsEnum || o is MemberInfo) return o.ToString();
        if (o is Array) return o.GetType().ToString() + ((Array)o).Length;
        return o.GetType().ToString();
    }
    static bool Listed(string[] list, string name) { return list.Any(l => name.StartsWith(l, StringComparison.Ordinal)); }

    static int Main(string[] args) {
        int first = args.Length > 0 ? int.Parse(args[0]) : 0, rounds = args.Length > 1 ? int.Parse(args[1]) : 6;
        ulong seed = args.Length > 2 ? ulong.Parse(args[2]) : 1;
        int last = args.Length > 3 ? int.Parse(args[3]) : int.MaxValue;
        Fill();
        var stderr = new StreamWriter(Console.OpenStandardError(), new System.Text.UTF8Encoding(false)) { AutoFlush = true };
        var all = new List<MethodBase>();
        foreach (var name in new[] { "mscorlib", "System", "System.Core" }) {
            var assembly = Assembly.Load(name + ", Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089");
            foreach (var type in assembly.GetTypes())
                foreach (var m in type.GetMembers(BindingFlags.DeclaredOnly | BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic).OfType<MethodBase>())
                    if ((m.GetMethodImplementationFlags() & MethodImplAttributes.InternalCall) != 0) all.Add(m);
        }
        int number = 0, called = 0;
        foreach (var m in all) {
            string name = m.DeclaringType.FullName + "::" + m.Name;
            if (Listed(Raw, name) || Listed(Apart, name)) continue;
            var method = m;
            if (m.IsGenericMethodDefinition) try { method = ((MethodInfo)m).MakeGenericMethod(m.GetGenericArguments().Select(a => typeof(int)).ToArray()); } catch (Exception) { continue; }
            if (method.ContainsGenericParameters) continue;
            var parameters = method.GetParameters();
            for (int round = 0; round < rounds; round++) {
                int n = number++;
                if (n < first) continue;
                if (n > last) return 0;
                state = (ulong)(n + 1) * 0x9E3779B97F4A7C15UL ^ seed * 0xD1B54A32D192ED03UL | 1;
                for (int i = 0; i < 4; i++) Next(2);
                object self = null;
                if (!method.IsStatic && !(method is ConstructorInfo)) {
                    self = method.DeclaringType.IsValueType ? FormatterServices.GetUninitializedObject(method.DeclaringType) : OfType(method.DeclaringType);
                    if (self == null) continue;
                }
                var values = new object[parameters.Length];
                for (int i = 0; i < values.Length; i++) values[i] = Value(parameters[i].ParameterType, parameters[i].Name ?? "", Listed(Handles, name));
                stderr.WriteLine(n + " " + name + "(" + (method.IsStatic ? "" : "this " + Show(self) + "; ") + string.Join(", ", values.Select(Show)) + ")");
                string end;
                try {
                    object r = method is ConstructorInfo ? ((ConstructorInfo)method).Invoke(values) : method.Invoke(self, values);
                    end = r is string || r is int || r is bool || r is Type ? Show(r) : "result";
                } catch (TargetInvocationException e) { end = e.InnerException.GetType().Name;
                } catch (Exception e) { end = "! " + e.GetType().Name; }
                called++;
                if (args.Length > 4) stderr.WriteLine("    = " + end);
            }
        }
        GC.Collect();
        Console.WriteLine(called > 0 ? "all ended as managed code may" : "nothing was called"); // expect: all ended as managed code may
        return 0;
    }
}
