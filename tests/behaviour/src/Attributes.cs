using System;
using System.Reflection;

// Makes the attributes of every type of a.exe whose metadata a compiler would not write.
class P {
    static void Main() {
        foreach (Type t in Assembly.LoadFrom("a.exe").GetTypes()) {
            try {
                object[] all = t.GetCustomAttributes(false);
                if (all.Length == 0) continue;
                Console.WriteLine("{0}: {1}, {2}", t.Name, all[0].GetType(), all[0]);
            } catch (Exception e) { Console.WriteLine("{0}: {1}", t.Name, e.GetType().Name); }
            Console.WriteLine("  {0}", Attribute.IsDefined(t, typeof(Attribute)));
        }
    }
}
