// The method of a delegate around a native function is a static method that can be called, and other delegates can be made over it. A delegate's thunk gives back
// the delegate, whatever delegate class is asked for.
// cc: -O1
using System;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

delegate int Add(int a, int b);
delegate int AlsoAdd(int x, int y);
delegate int One(int x);
[UnmanagedFunctionPointer(CallingConvention.Cdecl, CharSet = CharSet.Unicode)]
delegate int Length(string text);
delegate int Wide([MarshalAs(UnmanagedType.LPWStr)] string text);

static class MethodsOfNativeFunctions
{
    const string Library = "MethodsOfNativeFunctions";
    [DllImport(Library)] static extern IntPtr address_of_add();
    [DllImport(Library)] static extern IntPtr address_of_length();

    class Counter
    {
        public int Start;
        public int Count(int a, int b) { return Start + a * b; }
    }
    static int Product(int a, int b) { return a * b; }

    static void Show(string name, Func<object> what)
    {
        try { Console.WriteLine(name + ": " + Regex.Replace(what() + "", "0x[0-9a-f]+", "0x...")); }
        catch (Exception e) { Console.WriteLine(name + ": " + e.GetType() + ": " + e.Message); }
    }

    static void Main()
    {
        IntPtr address = address_of_add();
        var add = Marshal.GetDelegateForFunctionPointer<Add>(address);
        var same = Marshal.GetDelegateForFunctionPointer<Add>(address);
        Described(add);
        Called(add, same);
        Show("equal", () => add == same && add.Equals(same) && add.GetHashCode() == same.GetHashCode());
        Show("one object", () => ReferenceEquals(add, same));
        Show("the same method", () => add.Method == same.Method && ReferenceEquals(add.Method, add.Method));
        Show("of the address in its name", () => add.Method.Name == "wrapper_native_0x" + address.ToString("x"));
        Show("of another function", () => Marshal.GetDelegateForFunctionPointer<Add>(address_of_length()).Method == add.Method);
        Show("attribute", () => Marshal.GetDelegateForFunctionPointer<Length>(address_of_length()).DynamicInvoke("äöü"));
        Show("MarshalAs", () => Marshal.GetDelegateForFunctionPointer<Wide>(address_of_length()).Method.Invoke(null, new object[] { "four" }));
        Bound(add);
        Asked();
    }

    static void Described(Add add)
    {
        MethodInfo m = add.Method;
        Show("ToString", () => m);
        Show("DeclaringType", () => m.DeclaringType);
        Show("ReflectedType", () => m.ReflectedType);
        Show("Attributes", () => m.Attributes + ", " + m.GetMethodImplementationFlags() + ", " + m.CallingConvention);
        foreach (ParameterInfo p in m.GetParameters())
            Show("parameter", () => p + "|" + p.Position + "|" + p.Name + "|" + p.Attributes + "|" + (p.Member == m));
        Show("returns", () => m.ReturnType + "|" + m.ReturnParameter);
        Show("Target", () => add.Target);
        Show("base", () => m.GetBaseDefinition());
        Show("token", () => m.MetadataToken);
        Show("module", () => m.Module);
        Show("attributes", () => m.GetCustomAttributes(true).Length + m.GetCustomAttributesData().Count);
        Show("defined", () => m.IsDefined(typeof(ObsoleteAttribute), true));
        Show("from its handle", () => MethodBase.GetMethodFromHandle(m.MethodHandle) == m);
        Show("as an extension gives it", () => add.GetMethodInfo() == m);
        Show("listed", () => Array.IndexOf(typeof(object).GetMethods(BindingFlags.Static | BindingFlags.NonPublic), m));
    }

    static void Called(Add add, Add same)
    {
        MethodInfo m = add.Method;
        Show("called", () => add(1, 2));
        Show("DynamicInvoke", () => add.DynamicInvoke(3, 4));
        Show("Invoke", () => m.Invoke(null, new object[] { 5, 6 }));
        Show("Invoke on an object", () => m.Invoke(new object(), new object[] { 5, 6 }));
        Show("too few", () => m.Invoke(null, new object[] { 5 }));
        Show("too few", () => add.DynamicInvoke(5));
        Show("another type", () => m.Invoke(null, new object[] { 5, "x" }));
        Show("asynchronously", () => add.EndInvoke(add.BeginInvoke(7, 8, null, null)));
        Show("combined", () =>
        {
            var both = (Add)Delegate.Combine(add, same);
            return both(1, 1) + " " + both.GetInvocationList().Length + " " + both.Method.Name;
        });
        Show("combined with another", () => Delegate.Combine(add, new Add(Product)).DynamicInvoke(3, 5));
        Show("removed", () => Delegate.Remove(Delegate.Combine(add, new Add(Product)), same).Method);
    }

    static void Bound(Add add)
    {
        MethodInfo m = add.Method;
        Show("CreateDelegate", () => ((Add)Delegate.CreateDelegate(typeof(Add), m))(9, 1));
        Show("of another class", () => ((AlsoAdd)Delegate.CreateDelegate(typeof(AlsoAdd), m))(9, 2));
        Show("of a generic class", () => ((Func<int, int, int>)m.CreateDelegate(typeof(Func<int, int, int>)))(9, 3));
        Show("with too few parameters", () => Delegate.CreateDelegate(typeof(One), null, m));
        Show("over Invoke", () => ((Func<int, int, int>)Delegate.CreateDelegate(typeof(Func<int, int, int>), add, "Invoke"))(9, 4));
        Show("around it", () => new AlsoAdd(add)(9, 5));
        Show("the method of what is around it", () => new AlsoAdd(add).Method);
    }

    static void Asked()
    {
        Add product = Product, count = new Counter { Start = 100 }.Count;
        foreach (Add own in new[] { product, count })
        {
            IntPtr thunk = Marshal.GetFunctionPointerForDelegate(own);
            Show("of its class", () => ReferenceEquals(Marshal.GetDelegateForFunctionPointer<Add>(thunk), own));
            Show("of another class", () => ReferenceEquals(Marshal.GetDelegateForFunctionPointer(thunk, typeof(AlsoAdd)), own));
            Show("of another class, typed", () => Marshal.GetDelegateForFunctionPointer<AlsoAdd>(thunk));
            Show("DynamicInvoke", () => Marshal.GetDelegateForFunctionPointer(thunk, typeof(AlsoAdd)).DynamicInvoke(2, 3));
        }
        GC.KeepAlive(product);
        GC.KeepAlive(count);
    }
}
