// Which assembly is asked for: white space behind its name in a type's name is part of it, unless a comma follows; other characters than those of a simple name make all of the text its name.
using System;

static class BlanksInTypeName
{
    static void Main()
    {
        string asked = "";
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) => { asked += "{" + e.Name + "}"; return null; };
        foreach (string name in new[]
        {
            "T, Lib", "T, Lib ", "T, Lib\t", "T, Lib,", "T, Lib, ", "T, Lib , Version=1.0.0.0", "T, Lib!,", "T, Lib! ", "T, \"Lib\" ", "T, \"Lib \"", "T, \"Lib \", Version=1.0.0.0", "T, \"Lib\",",
            "T, é, Version=1.0.0.0", "T, Lib, Version=1.0.0.0, ", "T, Lib/x", "T, Lib=,", "System.Collections.Generic.List`1[[T, Lib ]]", "System.Collections.Generic.List`1[[T, Lib,]]"
        })
        {
            asked = "";
            Type found = Type.GetType(name);
            Console.WriteLine("<{0}> {1}", name, found == null ? asked : "found");
        }
    }
}
