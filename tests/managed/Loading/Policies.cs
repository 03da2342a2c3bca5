// Publisher policies: the redirects lie in a file beside the policy's assembly in the GAC, which its first resource names.
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class Policies
{
    const string Token = "b77a5c561934e089";
    static string folder;

    static void Make(string to, string name, int version, string resource = null, string file = null)
    {
        to = Path.Combine(folder, to);
        Directory.CreateDirectory(to);
        var full = new AssemblyName(name) { Version = new Version(version, 0, 0, 0) };
        full.SetPublicKey(typeof(object).Assembly.GetName().GetPublicKey());
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(full, AssemblyBuilderAccess.Save, to);
        assembly.DefineDynamicModule(name, name + ".dll").DefineType("T", TypeAttributes.Public).CreateType();
        if (resource != null)
        {
            File.WriteAllText(Path.Combine(to, file), "");
            assembly.AddResourceFile(resource, file);
        }
        assembly.Save(name + ".dll");
    }

    static string Redirect(string name, int version)
    {
        return "<configuration><runtime><assemblyBinding xmlns=\"urn:schemas-microsoft-com:asm.v1\"><dependentAssembly><assemblyIdentity name=\"" + name + "\" publicKeyToken=\"" + Token + "\" culture=\"neutral\"/>"
            + "<bindingRedirect oldVersion=\"0.0.0.0-5.0.0.0\" newVersion=\"" + version + ".0.0.0\"/></dependentAssembly></assemblyBinding></runtime></configuration>";
    }

    static void Policy(string name, int version, string resource, string file, params string[] configurations)
    {
        string policy = "policy." + version + ".0." + name, to = "lib/mono/gac/" + policy + "/0.0.0.0__" + Token;
        Make(to, policy, 0, resource, file);
        for (int i = 0; i < configurations.Length; i += 2) File.WriteAllText(Path.Combine(folder, to, configurations[i]), configurations[i + 1]);
    }

    static void Try(string what, Func<object> action)
    {
        string text;
        try { text = action().ToString(); }
        catch (Exception e) { text = e.GetType().Name; }
        Console.WriteLine(what + ": " + text);
    }

    static Assembly Load(string name, int version) { return Assembly.Load(name + ", Version=" + version + ".0.0.0, Culture=neutral, PublicKeyToken=" + Token); }

    static int Main(string[] args)
    {
        if (args.Length > 0)
        {
            folder = args[0];
            for (int version = 1; version < 6; version++) Try("Lib " + version, () => Load("Lib", version).GetName().Version);
            foreach (string name in new[] { "Names", "Missing", "Other", "Broken", "Plain" }) Try(name, () => Load(name, 1).GetName().Version);
            string old = Path.Combine(folder, "lib/mono/gac/Lib/1.0.0.0__" + Token + "/Lib.dll");
            Try("LoadFrom", () => Assembly.LoadFrom(old).GetName().Version);
            Try("bytes", () => Assembly.Load(File.ReadAllBytes(old)).GetName().Version);
            return 0;
        }
        folder = Path.Combine(Path.GetTempPath(), "policies-" + Guid.NewGuid());
        try
        {
            foreach (string name in new[] { "Lib", "Names", "Missing", "Other", "Broken", "Plain" })
                for (int version = 1; version < 5; version++) Make("lib/mono/gac/" + name + "/" + version + ".0.0.0__" + Token, name, version);
            Policy("Lib", 1, "p.config", "p.config", "p.config", Redirect("Lib", 4));
            Policy("Lib", 3, "p.config", "p.config", "p.config", Redirect("Lib", 2));
            Policy("Names", 1, "resource.config", "file.config", "resource.config", Redirect("Names", 2), "file.config", Redirect("Names", 3));
            Policy("Missing", 1, "none.config", "p.config", "p.config", Redirect("Missing", 2));
            Policy("Other", 1, "p.config", "p.config", "p.config", Redirect("Lib", 2));
            Policy("Broken", 1, "p.config", "p.config", "p.config", "nothing");
            Policy("Plain", 1, null, null, "policy.1.0.Plain.config", Redirect("Plain", 2));
            var start = new ProcessStartInfo("/proc/self/exe", "\"" + typeof(Policies).Assembly.Location + "\" " + folder) { UseShellExecute = false };
            start.EnvironmentVariables["MONO_GAC_PREFIX"] = folder;
            using (Process process = Process.Start(start)) { process.WaitForExit(); return process.ExitCode; }
        }
        finally { Directory.Delete(folder, true); }
    }
}
