using System;
using System.Net.Sockets;
using System.Reflection;

// What internal calls refuse, in mono's words.
static class RefusedArrays
{
    static void Try(string what, Func<object> f)
    {
        try { Console.WriteLine("{0}: {1}", what, f()); }
        catch (Exception e) { Console.WriteLine("{0}: {1}: {2}", what, e.GetType().Name, e.Message.Replace("\n", " | ")); }
    }

    static void Main()
    {
        var copy = typeof(Buffer).GetMethod("InternalBlockCopy", BindingFlags.NonPublic | BindingFlags.Static);
        Func<object, object, object> call = (from, to) => {
            try { return copy.Invoke(null, new[] { from, 0, to, 0, 1 }); }
            catch (TargetInvocationException e) { throw e.InnerException; }
        };
        Try("no source", () => call(null, new byte[1])); // expect: no source: ArgumentNullException: Value cannot be null. | Parameter name: src
        Try("no target", () => call(new byte[1], null)); // expect: no target: ArgumentNullException: Value cannot be null. | Parameter name: dest
        Try("both", () => call(new byte[1], new byte[1])); // expect: both: True
        Try("negative", () => Array.CreateInstance(typeof(int), -1)); // expect: negative: ArgumentOutOfRangeException: MonoArgumentException:NULL
        Try("second negative", () => Array.CreateInstance(typeof(int), 2, -1)); // expect: second negative: ArgumentOutOfRangeException: MonoArgumentException:NULL
        Try("no lengths", () => Array.CreateInstance(typeof(int), new int[0]));
        // expect: no lengths: ArgumentException: assertion `mono_array_handle_length (lengths) > 0' failed | Parameter name: lengths
        Try("by reference", () => Array.CreateInstance(typeof(int).MakeByRefType(), 1)); // expect: by reference: System.Int32[]
        Try("type", () => typeof(string).MakeByRefType().MakeArrayType()); // expect: type: System.String[]
        using (var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
            Try("not blocking", () => socket.IOControl(0x5421, new byte[4], null)); // expect: not blocking: InvalidOperationException: Must use Blocking property instead.
    }
}
