// Shows all of an assembly by reflection and runs none of its code. Whatever the assembly is, this ends with code 0.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

static class Reflect {
    const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance | BindingFlags.DeclaredOnly;
    static int shown, failed, characters;

    static void Try(Func<object> ask) {
        try {
            object answer = ask();
            shown++;
            var list = answer as Array;
            if (list != null) { foreach (object o in list) characters += o == null ? 0 : o.GetType().FullName.Length; }
            else if (answer != null) characters += answer.ToString().Length;
        } catch (Exception e) { failed++; characters += e.ToString().Length; }
    }
    static T[] List<T>(Func<T[]> ask) {
        try { return ask() ?? new T[0]; } catch (ReflectionTypeLoadException e) {
            failed++;
            var found = new List<T>();
            foreach (Type t in e.Types) if (t != null) found.Add((T)(object)t);
            return found.ToArray();
        } catch (Exception e) { failed++; characters += e.ToString().Length; return new T[0]; }
    }
    static void Attributes(ICustomAttributeProvider p) {
        foreach (object a in List(() => p.GetCustomAttributes(true))) {
            var attribute = (Attribute)a;
            Try(() => attribute.TypeId);
            Try(() => attribute.GetHashCode());
            var mark = a as Mark;
            if (mark != null) { Try(() => mark.Name); Try(() => mark.Types); Try(() => mark.Anything); }
        }
        Try(() => p.IsDefined(typeof(Mark), false));
    }
    static void Data(Func<IList<CustomAttributeData>> ask) {
        Try(() => { foreach (var d in ask()) { characters += d.ToString().Length; } return null; });
    }
    static void Parameters(MethodBase m) {
        foreach (ParameterInfo p in List(() => m.GetParameters())) {
            Try(() => p.ToString()); Try(() => p.RawDefaultValue); Try(() => p.GetRequiredCustomModifiers()); Try(() => p.GetOptionalCustomModifiers());
            Attributes(p);
        }
    }
    static void Method(MethodBase m) {
        Try(() => m.ToString());
        Try(() => m.CallingConvention); Try(() => m.MethodHandle.Value); Try(() => m.GetMethodImplementationFlags());
        Attributes(m); Data(() => CustomAttributeData.GetCustomAttributes(m)); Parameters(m);
        Try(() => { var b = m.GetMethodBody(); if (b != null) { foreach (var l in b.LocalVariables) characters += l.ToString().Length; foreach (var c in b.ExceptionHandlingClauses) characters += c.ToString().Length; characters += b.GetILAsByteArray().Length; } return null; });
        var info = m as MethodInfo;
        if (info != null) { Try(() => info.ReturnParameter); Try(() => info.GetBaseDefinition()); Try(() => info.GetGenericArguments()); Try(() => info.MakeGenericMethod(typeof(string))); }
    }
    static void Show(Type t) {
        Try(() => t.FullName); Try(() => t.AssemblyQualifiedName); Try(() => t.ToString()); Try(() => t.BaseType); Try(() => t.GetInterfaces());
        Try(() => t.Attributes); Try(() => t.DeclaringType); Try(() => t.StructLayoutAttribute); Try(() => t.GetGenericArguments()); Try(() => t.IsSerializable);
        Try(() => Marshal.SizeOf(t)); Try(() => typeof(Attribute).IsAssignableFrom(t)); Try(() => typeof(IDisposable).IsAssignableFrom(t));
        Try(() => t.Assembly.GetType(t.FullName, true));
        Try(() => t.MakeArrayType()); Try(() => t.MakeArrayType(2)); Try(() => t.MakeByRefType()); Try(() => t.MakePointerType());
        if (t.IsGenericTypeDefinition) Try(() => t.MakeGenericType(typeof(int)));
        Attributes(t); Data(() => CustomAttributeData.GetCustomAttributes(t));
        foreach (Type g in List(() => t.GetGenericArguments())) { if (g.IsGenericParameter) { Try(() => g.GenericParameterAttributes); Try(() => g.GetGenericParameterConstraints()); } }
        foreach (FieldInfo f in List(() => t.GetFields(All))) {
            Try(() => f.ToString()); Try(() => f.FieldType); Try(() => f.GetRequiredCustomModifiers()); Attributes(f);
            if (f.IsLiteral) Try(() => f.GetRawConstantValue());
            Try(() => Marshal.OffsetOf(t, f.Name));
        }
        foreach (MethodInfo m in List(() => t.GetMethods(All))) Method(m);
        foreach (ConstructorInfo c in List(() => t.GetConstructors(All))) Method(c);
        foreach (PropertyInfo p in List(() => t.GetProperties(All))) { Try(() => p.ToString()); Try(() => p.GetIndexParameters()); Try(() => p.GetAccessors(true)); Attributes(p); Try(() => p.GetRawConstantValue()); }
        foreach (EventInfo e in List(() => t.GetEvents(All))) { Try(() => e.ToString()); Try(() => e.GetAddMethod(true)); Try(() => e.EventHandlerType); Attributes(e); }
        if (t.IsInterface) return;
        foreach (Type i in List(() => t.GetInterfaces())) Try(() => t.GetInterfaceMap(i).TargetMethods);
        if (t.IsEnum) { Try(() => Enum.GetNames(t)); Try(() => Enum.GetValues(t)); Try(() => Enum.GetUnderlyingType(t)); Try(() => Enum.ToObject(t, 1)); Try(() => Enum.Parse(t, "A")); }
        // Arrays of it: the layout of elements is asked for.
        Try(() => t.ContainsGenericParameters ? 0 : Array.CreateInstance(t, 3).Length);
    }
    static int Main(string[] args) {
        Assembly a = null;
        Try(() => a = Assembly.LoadFile(Path.GetFullPath(args[0])));
        if (a != null) {
            Try(() => a.GetName()); Try(() => a.EntryPoint); Try(() => a.GetReferencedAssemblies()); Try(() => a.ImageRuntimeVersion); Try(() => a.GetManifestResourceNames());
            foreach (string n in List(() => a.GetManifestResourceNames())) { Try(() => a.GetManifestResourceInfo(n)); Try(() => a.GetManifestResourceStream(n)); }
            Attributes(a); Data(() => CustomAttributeData.GetCustomAttributes(a));
            foreach (Module m in List(() => a.GetModules())) {
                Try(() => m.ToString()); Try(() => m.ModuleVersionId); Attributes(m); Try(() => m.GetFields(All)); Try(() => m.GetMethods(All));
                foreach (int table in new[] { 1, 2, 4, 6, 10, 27, 43, 17, 0x70 })
                    for (int row = 0; row < 24; row++) {
                        int token = table << 24 | row;
                        if (table == 17) Try(() => m.ResolveSignature(token).Length);
                        else if (table == 0x70) Try(() => m.ResolveString(token));
                        else Try(() => m.ResolveMember(token));
                    }
            }
            foreach (Type t in List(() => a.GetTypes())) { if (t != null) Try(() => { Show(t); return null; }); }
            Try(() => a.GetExportedTypes());
        }
        GC.Collect();
        Console.WriteLine("done {0} {1} {2}", shown > 0, failed > 0, characters > 0);
        return 0;
    }
}
