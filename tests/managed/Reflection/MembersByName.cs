// Members that are asked for by names of ASCII, of other characters, with a NUL, with half of a surrogate pair, in another case, empty and null.
using System;
using System.Reflection;

static class MembersByName
{
    class Some
    {
        public int Number { get; set; }
        public int Größe { get; set; }
        public int number;
        public int größe;
        public void Run() { }
        public void Läuft() { }
        public event Action Changed { add { } remove { } }
        public event Action Geändert { add { } remove { } }
        public class Inner { }
        public class Ähnlich { }
    }

    static void Try(string what, string name, Func<MemberInfo> f)
    {
        string shown = name == null ? "null" : name.Replace("\0", "\\0").Replace("\ud800", "\\ud800");
        try { Console.WriteLine("{0} {1}: {2}", what, shown, f() == null ? "none" : f().Name); }
        catch (Exception e) { Console.WriteLine("{0} {1}: {2}: {3}", what, shown, e.GetType().Name, e.Message.Replace('\n', '|')); }
    }

    static void Main()
    {
        const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static;
        string[] names = { "Number", "number", "NUMBER", "Größe", "größe", "GRÖSSE", "GRÖßE", "Run", "run", "Läuft", "LÄUFT", "Changed", "changed", "Geändert", "GEÄNDERT", "Inner", "inner", "Ähnlich",
            "ähnlich", "Numbe", "Numbers", "Number\0", "Num\0ber", "\0", "", "\ud800", "Number\ud800", null, new string('x', 300) };
        Type type = typeof(Some);
        foreach (string name in names)
        {
            Try("property", name, () => type.GetProperty(name));
            Try("property, any case", name, () => type.GetProperty(name, All | BindingFlags.IgnoreCase));
            Try("field", name, () => type.GetField(name));
            Try("field, any case", name, () => type.GetField(name, All | BindingFlags.IgnoreCase));
            Try("method", name, () => type.GetMethod(name));
            Try("method, any case", name, () => type.GetMethod(name, All | BindingFlags.IgnoreCase));
            Try("event", name, () => type.GetEvent(name));
            Try("nested", name, () => type.GetNestedType(name));
            if (name == null || !name.EndsWith("hnlich"))
                Try("nested, any case", name, () => type.GetNestedType(name, All | BindingFlags.IgnoreCase));
            Try("member", name, () => type.GetMember(name).Length == 0 ? null : type.GetMember(name)[0]);
        }
    }
}
