// The frames of mono's wrappers in the traces of exceptions: of `EndInvoke`, and of synchronized methods with type arguments.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

delegate int Plain(int x);
delegate void ByRefs(ref int x, out string s, Version v);

class G<T>
{
    [MethodImpl(MethodImplOptions.Synchronized)]
    public void M(T x) { throw new Exception("x"); }
    [MethodImpl(MethodImplOptions.Synchronized)]
    public void N<U>(T x, U y) { throw new Exception("x"); }
    [MethodImpl(MethodImplOptions.Synchronized)]
    public static void S<U>(U y, List<T> l) { throw new Exception("x"); }
}

static class InstantiatedFrames
{
    static int Fails(int x) { throw new Exception("a"); }
    static void FailsToo(ref int x, out string s, Version v) { throw new Exception("b"); }
    static void Show(Action a)
    {
        try
        {
            a();
        }
        catch (Exception e)
        {
            foreach (var line in e.StackTrace.Split('\n'))
                if (line.Contains("wrapper"))
                    Console.WriteLine(line.Trim());
        }
    }
    static void Main()
    {
        Plain plain = Fails;
        Show(() => plain.EndInvoke(plain.BeginInvoke(1, null, null)));
        // expect: at (wrapper managed-to-native) System.Object.__icall_wrapper_mono_delegate_end_invoke(object,intptr)
        // expect: at (wrapper delegate-end-invoke) <Module>.end_invoke_int__this___IAsyncResult(System.IAsyncResult)
        ByRefs refs = FailsToo;
        int i = 0;
        string s;
        Show(() => refs.EndInvoke(ref i, out s, refs.BeginInvoke(ref i, out s, null, null, null)));
        // expect: at (wrapper managed-to-native) System.Object.__icall_wrapper_mono_delegate_end_invoke(object,intptr)
        // expect: at (wrapper delegate-end-invoke) <Module>.end_invoke_void__this___int&_string&_IAsyncResult(int&,string&,System.IAsyncResult)
        Func<int, int> f = Fails;
        Show(() => f.EndInvoke(f.BeginInvoke(1, null, null)));
        // expect: at (wrapper managed-to-native) System.Object.__icall_wrapper_mono_delegate_end_invoke(object,intptr)
        // expect: at (wrapper delegate-end-invoke) System.Func`2[System.Int32,System.Int32].end_invoke_TResult__this___IAsyncResult(System.IAsyncResult)
        Show(() => new G<string>().M("")); // expect: at (wrapper synchronized) G`1[System.String].M(string)
        Show(() => new G<int>().M(1)); // expect: at (wrapper synchronized) G`1[System.Int32].M(int)
        Show(() => new G<int>().N<byte>(1, 2)); // expect: at (wrapper synchronized) G`1[System.Int32].N(int,byte)
        Show(() => G<string>.S<long>(1, null)); // expect: at (wrapper synchronized) G`1[System.String].S(long,System.Collections.Generic.List`1<string>)
        try
        {
            Array.CreateInstance(typeof(RuntimeArgumentHandle), 2);
        }
        catch (TypeLoadException e)
        {
            Console.WriteLine(e.Message); // expect: Could not create array type 'System.RuntimeArgumentHandle[]'
        }
    }
}
