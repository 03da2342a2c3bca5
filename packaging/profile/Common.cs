// What nearly every program of the class library does at its start: the methods that this program uses are compiled when the package is
// installed (packaging/build.sh records them). It has no output, so that it can run anywhere.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

class Common
{
    static async Task<int> Later (int n)
    {
        await Task.Yield ();
        return n;
    }

    static void Main (string[] args)
    {
        Console.Out.Write ("");
        Console.Error.Write ("");
        var words = new Dictionary<string, int> ();
        foreach (var word in "one two three two one".Split (' ')) {
            int n;
            words.TryGetValue (word, out n);
            words[word] = n + 1;
        }
        var list = words.OrderBy (p => p.Key).Select (p => String.Format (CultureInfo.InvariantCulture, "{0}={1:N2}", p.Key, p.Value)).ToList ();
        list.Sort (StringComparer.OrdinalIgnoreCase);
        var text = new StringBuilder ();
        foreach (var item in list)
            text.AppendLine (item);
        var path = Path.GetTempFileName ();
        File.WriteAllText (path, text.ToString ());
        using (var reader = new StreamReader (path))
            while (reader.ReadLine () != null) { }
        File.Delete (path);
        Regex.Replace (text.ToString (), @"(\w+)=(\d+)", "$2 $1");
        var thread = new Thread (() => { lock (words) Monitor.PulseAll (words); });
        thread.Start ();
        thread.Join ();
        Task.WaitAll (Enumerable.Range (0, 4).Select (n => Task.Run (() => Later (n))).ToArray ());
        try {
            Int32.Parse ("x");
        } catch (FormatException e) {
            e.ToString ();
        }
        DateTime.Now.ToString ("o", CultureInfo.InvariantCulture);
        Double.Parse ("1.5", CultureInfo.InvariantCulture).ToString ("R", CultureInfo.InvariantCulture);
        Environment.GetEnvironmentVariable ("HOME");
        typeof (Common).GetMethods ().Length.ToString ();
    }
}
