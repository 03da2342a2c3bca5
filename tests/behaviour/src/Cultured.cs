using System;
using System.Globalization;
using System.Reflection;
using System.Resources;
using System.Text;
using System.Threading;

static class Cultured
{
    static void Main(string[] args)
    {
        Console.OutputEncoding = new UTF8Encoding(false);
        var c = CultureInfo.CurrentCulture;
        Console.WriteLine("{0} {1} {2} {3:N} {4:D} {5}", c.Name.Length == 0 ? "invariant" : c.Name, CultureInfo.CurrentUICulture.Name, CultureInfo.InstalledUICulture.Name, -1234.5,
            new DateTime(2020, 1, 2), Thread.CurrentThread.CurrentCulture.Equals(c));
        if (args.Length == 0) return;
        var greetings = new ResourceManager("Greetings", Assembly.GetExecutingAssembly());
        Console.WriteLine("default: {0}", greetings.GetString("hello"));
        foreach (var name in args)
        {
            var culture = new CultureInfo(name);
            Console.WriteLine("{0}: {1}, {2}", name, greetings.GetString("hello", culture), greetings.GetString("bye", culture));
            try { Console.WriteLine(Assembly.GetExecutingAssembly().GetSatelliteAssembly(culture).FullName); }
            catch (Exception e) { Console.WriteLine("{0}: {1}", e.GetType(), e.Message); }
        }
        foreach (var a in AppDomain.CurrentDomain.GetAssemblies()) if (a.FullName.StartsWith("Cultured")) Console.WriteLine(a.FullName);
    }
}
