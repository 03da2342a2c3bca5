using System;
class Facade { static void Main() {
    Console.WriteLine(string.Join(",", System.Linq.Enumerable.Range(1, 3)));
    var l = new System.Collections.Concurrent.ConcurrentDictionary<string, int>(); l["a"] = 1;
    Console.WriteLine(l.Count); Console.WriteLine(System.Text.RegularExpressions.Regex.IsMatch("abc", "b."));
    Console.WriteLine(typeof(Facade).Assembly.GetReferencedAssemblies()[0].Name); } }
