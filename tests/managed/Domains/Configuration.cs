// What stands before an error in a configuration counts, and much is forgiven; the last <probing> of all counts; versions of redirects are read as far as they are numbers.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class Configuration
{
    static void Make(string folder, string name, int version)
    {
        Directory.CreateDirectory(folder);
        var full = new AssemblyName(name) { Version = new Version(version, 0, 0, 0) };
        full.SetPublicKey(typeof(object).Assembly.GetName().GetPublicKey());
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(full, AssemblyBuilderAccess.Save, folder);
        assembly.DefineDynamicModule(name, name + ".dll").DefineType("T", TypeAttributes.Public).CreateType();
        assembly.Save(name + ".dll");
    }

    static void InDomain()
    {
        string text;
        try
        {
            // What a program gives as a file is redirected.
            Assembly found = (bool)AppDomain.CurrentDomain.GetData("redirects")
                ? Assembly.LoadFrom(Path.Combine(AppDomain.CurrentDomain.BaseDirectory, "one", "Lib.dll"))
                : Assembly.Load("Lib");
            text = Path.GetFileName(Path.GetDirectoryName(found.Location)) + " " + found.GetName().Version;
        }
        catch (Exception e) { text = e.GetType().Name; }
        Console.WriteLine(text);
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "configuration-" + Guid.NewGuid());
        try
        {
            Make(Path.Combine(folder, "one"), "Lib", 1);
            Make(Path.Combine(folder, "two"), "Lib", 2);
            File.Copy(typeof(Configuration).Assembly.Location, Path.Combine(folder, Path.GetFileName(typeof(Configuration).Assembly.Location)));
            const string open = "<assemblyBinding xmlns=\"urn:schemas-microsoft-com:asm.v1\">", close = "</assemblyBinding>";
            string one = open + "<probing privatePath=\"one\"/>" + close, two = open + "<probing privatePath=\"two\"/>" + close;
            string begin = "<configuration><runtime>", end = "</runtime></configuration>", runtime = "<runtime>" + one + "</runtime>";
            Action<string, string, bool> run = (what, text, redirects) =>
            {
                Console.Write(what + ": ");
                string file = Path.Combine(folder, "application.config");
                File.WriteAllText(file, text);
                AppDomain domain = AppDomain.CreateDomain("domain", null, new AppDomainSetup { ApplicationBase = folder, ConfigurationFile = file });
                domain.SetData("redirects", redirects);
                domain.DoCallBack(InDomain);
                AppDomain.Unload(domain);
            };
            Action<string, string> probe = (what, text) => run(what, text, false);
            probe("nothing", "");
            probe("well-formed", begin + one + end);
            probe("last probing of a binding", begin + open + "<probing privatePath=\"one\"/><probing privatePath=\"two\"/>" + close + end);
            probe("last binding", begin + one + two + end);
            probe("last runtime", begin + one + "</runtime><runtime>" + two + end);
            probe("outside", begin + one + "</runtime>" + two + "</configuration>");
            probe("cut", begin + one);
            probe("cut in a tag", begin + one + "<x a='");
            probe("junk behind", begin + one + end + "junk");
            probe("junk in front", "junk" + begin + one + end);
            probe("white space in front", " \n<?xml version=\"1.0\"?>" + begin + one + end);
            probe("dashes in a comment", "<configuration><!-- a -- b -->" + runtime + "</configuration>");
            probe("ampersand", "<configuration><x a=\"a & b\"/>" + runtime + "</configuration>");
            probe("less", "<configuration><x a=\"a < b\"/>" + runtime + "</configuration>");
            probe("twice", "<configuration><x a=\"a\" a=\"b\"/>" + runtime + "</configuration>");
            probe("entity", "<configuration><x>&nbsp;</x>" + runtime + "</configuration>");
            probe("another end tag", "<configuration><a></b>" + runtime + "</configuration>");
            probe("no quotes", "<configuration><x a=b/>" + runtime + "</configuration>");
            probe("deep", "<configuration>" + new string('x', 400).Replace("x", "<a>") + new string('x', 400).Replace("x", "</a>") + runtime + "</configuration>");
            foreach (string versions in new[] { "1.0.0.0 2.0.0.0", "1.0.0.0 2.0", "1.0.0.0 2", "0.0.0.0-99999.0.0.0 2.0.0.0", "1.0.0.x 2.0.0.0", "1.0.0.0.0 2.0.0.0", "1.0.0.0,3.0.0.0 2.0.0.0", "1.0 2.0.0.0", "1.0.0.0-1.5 2.0.0.0", "1.0.0.0 " })
            {
                string[] parts = versions.Split(' ');
                string text = begin + open + "<probing privatePath=\"two\"/><dependentAssembly><assemblyIdentity name=\"Lib\" publicKeyToken=\"b77a5c561934e089\" culture=\"neutral\"/><bindingRedirect oldVersion=\""
                    + parts[0] + "\" newVersion=\"" + parts[1] + "\"/></dependentAssembly>" + close + end;
                run(versions, text, true);
            }
        }
        finally { Directory.Delete(folder, true); }
    }
}
