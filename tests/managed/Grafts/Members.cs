// Grafted members: called, reflected, delegated to, thrown through. Members.graft has them.
// grafts: Members.graft
// tiers: all
using System;
using System.Diagnostics;
using System.Linq;
using System.Reflection;
using System.Threading;

static class Members
{
    delegate bool Swapper(ref int a, ref int b, out int old);

    static void Main()
    {
        Calls();
        Generics();
        Exceptions();
        Delegates();
        Reflection();
        Tokens();
        Attributes();
        Elsewhere();
    }

    static void Calls()
    {
        Thread.Calls = 5;
        Console.WriteLine(Thread.Calls);
        Console.WriteLine(Thread.Hello("you") + ", " + Thread.Hello("me", 3));
        Console.WriteLine(Thread.CallsPlusOne);
        Thread.Sleep(0);
        Thread.Sleep(TimeSpan.Zero);
        Console.WriteLine(Thread.Sleep("leaves"));
        Console.WriteLine(Thread.Remember("second"));
        Console.WriteLine(string.Join(" ", Thread.Numbers(5)));
        Console.WriteLine(Thread.Later(20).Result);
        Console.WriteLine(Thread.Closure(1000)());
        Console.WriteLine(Thread.Params(1, "2", 3.0));
        Console.WriteLine(Math.Twice(21));
        Console.WriteLine(Thread.ProcessNumber() == Process.GetCurrentProcess().Id);
        int other = -1;
        var thread = new Thread(() => { Thread.Calls++; other = Thread.Calls; });
        thread.Start();
        thread.Join();
        Console.WriteLine(other + " " + Thread.Calls);
        Console.WriteLine(nameof(Thread.Hello));
    }

    static void Generics()
    {
        Console.WriteLine(Thread.Apply(() => 7) + " " + Thread.Apply(() => "seven") + " " + Thread.Apply(() => 7.5m));
        Console.WriteLine(Thread.Map("four", s => s.Length));
        int a = 1, b = 2, old;
        Console.WriteLine(Thread.Swap(ref a, ref b, out old) + " " + a + b + old);
        string c = "c", d = "d", e;
        Console.WriteLine(Thread.Swap(ref c, ref d, out e) + " " + c + d + e);
    }

    static void Exceptions()
    {
        Console.WriteLine(Thread.Catch());
        try
        {
            Thread.Throw("thrown");
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(e.Message + ", " + e.TargetSite);
            foreach (var frame in new StackTrace(e).GetFrames())
                Console.WriteLine("  " + frame.GetMethod().DeclaringType + " " + frame.GetMethod());
            foreach (var line in e.StackTrace.Split('\n'))
                Console.WriteLine(line.Substring(0, line.IndexOf(" [")));
        }
        try
        {
            typeof(Thread).GetMethod("Throw").Invoke(null, new object[] { "reflected" });
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException.GetType() + " " + e.InnerException.Message);
        }
    }

    static void Delegates()
    {
        Func<string, int, string> hello = Thread.Hello;
        Console.WriteLine(hello("delegate", 1) + " " + hello.Method + " " + (hello.Target == null));
        var made = (Func<string, int, string>)Delegate.CreateDelegate(typeof(Func<string, int, string>), typeof(Thread), "Hello");
        Console.WriteLine(made("made", 1) + " " + made.Equals(hello));
        Func<Func<int>, int> apply = Thread.Apply;
        Console.WriteLine(apply(() => 3));
        Swapper swap = Thread.Swap;
        int a = 1, b = 2, old;
        swap(ref a, ref b, out old);
        Console.WriteLine("" + a + b + old);
        var calls = (Func<int>)Delegate.CreateDelegate(typeof(Func<int>), typeof(Thread).GetProperty("Calls").GetMethod);
        Console.WriteLine(calls() == Thread.Calls);
    }

    static void Reflection()
    {
        var type = typeof(Thread);
        var calls = type.GetProperty("Calls");
        Console.WriteLine(calls + " of " + calls.DeclaringType + ", " + calls.ReflectedType + ", can write: " + calls.CanWrite);
        calls.SetValue(null, 40);
        Console.WriteLine(calls.GetValue(null) + " " + Thread.Calls);
        Console.WriteLine(type.GetProperties().Contains(calls) + " " + type.GetMember("Calls").Length);
        Console.WriteLine(type.GetProperty("Hidden", BindingFlags.Static | BindingFlags.NonPublic) == null);
        Console.WriteLine(type.GetMethod("Inner", BindingFlags.Static | BindingFlags.NonPublic) == null);
        foreach (var m in type.GetMethods(BindingFlags.Static | BindingFlags.Public | BindingFlags.DeclaredOnly).Where(m => m.Name == "Sleep"))
            Console.WriteLine(m + " in " + m.DeclaringType.Assembly.GetName().Name + ", " + m.Module.Name);
        var hello = type.GetMethod("Hello");
        Console.WriteLine(hello.Invoke(null, new object[] { "reflection", 1 }));
        Console.WriteLine(hello.Invoke(null, new object[] { "default", Type.Missing }));
        foreach (var p in hello.GetParameters())
            Console.WriteLine(p.Position + " " + p + " " + p.HasDefaultValue + " " + (p.HasDefaultValue ? p.DefaultValue : "") + " " + p.Attributes);
        var map = type.GetMethod("Map");
        Console.WriteLine(map + " " + map.IsGenericMethodDefinition + " " + string.Join(",", map.GetGenericArguments().Select(a => a.GenericParameterAttributes)));
        Console.WriteLine(map.GetGenericArguments()[0].DeclaringMethod == map);
        Console.WriteLine(map.GetGenericArguments()[0].Module + " " + map.GetGenericArguments()[0].DeclaringType);
        var closed = map.MakeGenericMethod(typeof(string), typeof(int));
        Console.WriteLine(closed + " " + closed.Invoke(null, new object[] { "five5", (Func<string, int>)(s => s.Length) }));
        Console.WriteLine(closed.GetGenericMethodDefinition() == map);
        try { map.MakeGenericMethod(typeof(int), typeof(int)); Console.WriteLine("made"); }
        catch (ArgumentException) { Console.WriteLine("a constraint is kept"); }
        Console.WriteLine(MethodBase.GetMethodFromHandle(hello.MethodHandle) == hello);
        Console.WriteLine(Thread.Current() + " of " + Thread.Current().DeclaringType);
        Console.WriteLine(hello.GetMethodBody() == null);
        Console.WriteLine(type.GetMethods(BindingFlags.Static | BindingFlags.Public).Length
            == type.GetMethods(BindingFlags.Static | BindingFlags.Public).Distinct().Count());
        Console.WriteLine(type.InvokeMember("Hello", BindingFlags.InvokeMethod, null, null, new object[] { "member", 9 }));
        Console.WriteLine(type.FindMembers(MemberTypes.All, BindingFlags.Static | BindingFlags.Public, Type.FilterName, "Ca*").Length);
    }

    static void Tokens()
    {
        var type = typeof(Thread);
        var all = typeof(object).Module;
        var methods = type.GetMethods(BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly);
        Console.WriteLine(methods.All(m => m.Module.ResolveMethod(m.MetadataToken) == m));
        Console.WriteLine(methods.All(m => m.Module.ResolveMember(m.MetadataToken) == m));
        Console.WriteLine(methods.Select(m => m.MetadataToken).Distinct().Count() == methods.Length);
        var twice = typeof(Math).GetMethod("Twice");
        Console.WriteLine(all.ResolveMethod(twice.MetadataToken));
        var last = methods.Concat(new[] { twice }).Max(m => m.MetadataToken);
        try { all.ResolveMethod(last + 1); Console.WriteLine("resolved"); }
        catch (ArgumentOutOfRangeException) { Console.WriteLine("out of range"); }
        var tokens = type.GetProperties(BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic).Select(p => p.MetadataToken);
        Console.WriteLine(tokens.Distinct().Count() == tokens.Count());
    }

    static void Attributes()
    {
        var hello = typeof(Thread).GetMethod("Hello");
        Console.WriteLine(hello.GetCustomAttribute<CLSCompliantAttribute>().IsCompliant);
        Console.WriteLine(typeof(Thread).GetProperty("Calls").IsDefined(typeof(CLSCompliantAttribute)));
        Console.WriteLine(string.Join(" ", hello.GetParameters()[0].CustomAttributes));
        Console.WriteLine(string.Join(" ", hello.ReturnParameter.GetCustomAttributes(false)));
        Console.WriteLine(hello.GetParameters()[0].MetadataToken.ToString("x"));
        Console.WriteLine(typeof(Thread).GetMethod("Params").GetParameters()[0].IsDefined(typeof(ParamArrayAttribute)));
        Console.WriteLine(typeof(Thread).GetMethod("ProcessNumber").GetCustomAttribute<System.Runtime.InteropServices.DllImportAttribute>().EntryPoint);
    }

    static void Elsewhere()
    {
        Console.WriteLine(AppDomain.CurrentDomain.GetAssemblies().Any(a => a.GetName().Name.Contains("raft")));
        Console.WriteLine(typeof(Thread).Assembly.GetType("Test.Grafts.ThreadGraft") == null);
    }
}
