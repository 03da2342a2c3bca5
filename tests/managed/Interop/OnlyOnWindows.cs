// What the Windows Runtime would do.
using System;
using System.Linq;
using System.Reflection;

static class OnlyOnWindows
{
    static void Main()
    {
        const BindingFlags any = BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public | BindingFlags.DeclaredOnly;
        var methods = typeof(object).Assembly.GetType("System.Runtime.InteropServices.WindowsRuntime.UnsafeNativeMethods").GetMethods(any);
        foreach (var name in new[] { "GetRestrictedErrorInfo", "RoOriginateLanguageException", "RoReportUnhandledError", "WindowsDeleteString" })
        {
            var method = methods.Single(m => m.Name == name);
            var arguments = method.GetParameters().Select(p => p.ParameterType.IsValueType ? Activator.CreateInstance(p.ParameterType) : null).ToArray();
            try { method.Invoke(null, arguments); }
            catch (TargetInvocationException e) { Console.WriteLine(e.InnerException.GetType() + ": " + e.InnerException.Message); }
        }
    }
}
