// Writes a reference assembly: the core library with the signatures of the grafts added and all method bodies left out.
// Compilers read it in place of mscorlib.dll; it cannot be run.
//
//     Reference.exe MSCORLIB RESULT GRAFTS...
//
// `vervet ref` compiles this file and runs it. It needs Mono.Cecil (Debian: libmono-cecil-private-cil).
using System;
using System.Collections.Generic;
using System.Linq;
using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.Collections.Generic;

static class Reference
{
    const string GraftOnto = "Vervet.GraftOntoAttribute";

    static int Main(string[] args)
    {
        if (args.Length < 3)
        {
            Console.Error.WriteLine("usage: Reference.exe MSCORLIB RESULT GRAFTS...");
            return 1;
        }
        using (var library = ModuleDefinition.ReadModule(args[0]))
        {
            foreach (var type in AllTypes(library.Types))
                foreach (var method in type.Methods)
                    if (method.HasBody)
                        method.Body = new MethodBody(method);
            library.Resources.Clear();
            foreach (var path in args.Skip(2))
                using (var grafts = ModuleDefinition.ReadModule(path))
                    foreach (var graft in AllTypes(grafts.Types))
                        AddGraft(library, graft);
            library.Write(args[1]);
        }
        return 0;
    }

    static void AddGraft(ModuleDefinition library, TypeDefinition graft)
    {
        var attribute = graft.CustomAttributes.FirstOrDefault(a => a.AttributeType.FullName == GraftOnto);
        if (attribute == null)
            return;
        var name = (string)attribute.ConstructorArguments[1].Value;
        var target = library.GetType(name) ?? throw new InvalidOperationException("mscorlib has no type " + name);
        new Graft(library, target).Add(graft);
    }

    static IEnumerable<TypeDefinition> AllTypes(IEnumerable<TypeDefinition> types)
    {
        foreach (var type in types)
        {
            yield return type;
            foreach (var nested in AllTypes(type.NestedTypes))
                yield return nested;
        }
    }
}

/// <summary>Copies the signatures of a graft to its target.</summary>
sealed class Graft
{
    readonly ModuleDefinition library;
    readonly TypeDefinition target;
    readonly Dictionary<MethodDefinition, MethodDefinition> copies = new Dictionary<MethodDefinition, MethodDefinition>();

    public Graft(ModuleDefinition library, TypeDefinition target)
    {
        this.library = library;
        this.target = target;
    }

    public void Add(TypeDefinition graft)
    {
        foreach (var method in graft.Methods.Where(m => m.IsPublic && m.IsStatic))
        {
            var copy = Copy(method);
            target.Methods.Add(copy);
            copies[method] = copy;
        }
        foreach (var property in graft.Properties)
        {
            var get = CopyOf(property.GetMethod);
            var set = CopyOf(property.SetMethod);
            if (get == null && set == null)
                continue;
            var type = (get != null ? get.ReturnType : set.Parameters.Last().ParameterType);
            var copy = new PropertyDefinition(property.Name, property.Attributes, type) { GetMethod = get, SetMethod = set };
            CopyAttributes(property.CustomAttributes, copy.CustomAttributes);
            target.Properties.Add(copy);
        }
    }

    MethodDefinition CopyOf(MethodDefinition method)
    {
        MethodDefinition copy = null;
        if (method != null)
            copies.TryGetValue(method, out copy);
        return copy;
    }

    MethodDefinition Copy(MethodDefinition method)
    {
        var copy = new MethodDefinition(method.Name, method.Attributes, library.TypeSystem.Void);
        // An internal call or a P/Invoke is an ordinary method to a compiler.
        copy.IsPInvokeImpl = false;
        foreach (var parameter in method.GenericParameters)
        {
            var variable = new GenericParameter(parameter.Name, copy) { Attributes = parameter.Attributes };
            copy.GenericParameters.Add(variable);
        }
        for (int i = 0; i < method.GenericParameters.Count; i++)
            foreach (var constraint in method.GenericParameters[i].Constraints)
                copy.GenericParameters[i].Constraints.Add(
                    new GenericParameterConstraint(Map(constraint.ConstraintType, copy)));
        copy.ReturnType = Map(method.ReturnType, copy);
        foreach (var parameter in method.Parameters)
        {
            var mapped = new ParameterDefinition(parameter.Name, parameter.Attributes, Map(parameter.ParameterType, copy));
            if (parameter.HasConstant)
                mapped.Constant = parameter.Constant;
            CopyAttributes(parameter.CustomAttributes, mapped.CustomAttributes);
            copy.Parameters.Add(mapped);
        }
        CopyAttributes(method.CustomAttributes, copy.CustomAttributes);
        return copy;
    }

    /// <summary>Those attributes whose classes are the core library's, such as ObsoleteAttribute and ParamArrayAttribute.</summary>
    void CopyAttributes(Collection<CustomAttribute> from, Collection<CustomAttribute> to)
    {
        foreach (var attribute in from)
        {
            var type = attribute.AttributeType;
            var own = type.Scope is AssemblyNameReference ? library.GetType(type.FullName) : null;
            var constructor = own?.Methods.FirstOrDefault(m => m.IsConstructor && !m.IsStatic
                && m.Parameters.Select(p => p.ParameterType.FullName)
                    .SequenceEqual(attribute.Constructor.Parameters.Select(p => p.ParameterType.FullName)));
            if (constructor == null || attribute.ConstructorArguments.Any(a => a.Value is TypeReference || a.Value is Array))
                continue;
            var copy = new CustomAttribute(constructor);
            foreach (var argument in attribute.ConstructorArguments)
                copy.ConstructorArguments.Add(new CustomAttributeArgument(Map(argument.Type, null), argument.Value));
            to.Add(copy);
        }
    }

    /// <summary>A type of the grafts assembly's signatures, as the core library writes it.</summary>
    TypeReference Map(TypeReference type, MethodDefinition owner)
    {
        if (type is GenericParameter variable)
            return owner.GenericParameters[variable.Position];
        if (type is GenericInstanceType instance)
        {
            var result = new GenericInstanceType(Map(instance.ElementType, owner));
            foreach (var argument in instance.GenericArguments)
                result.GenericArguments.Add(Map(argument, owner));
            return result;
        }
        if (type is ArrayType array)
            return new ArrayType(Map(array.ElementType, owner), array.Rank);
        if (type is ByReferenceType reference)
            return new ByReferenceType(Map(reference.ElementType, owner));
        if (type is PointerType pointer)
            return new PointerType(Map(pointer.ElementType, owner));
        if (type is RequiredModifierType required)
            return new RequiredModifierType(Map(required.ModifierType, owner), Map(required.ElementType, owner));
        if (type is OptionalModifierType optional)
            return new OptionalModifierType(Map(optional.ModifierType, owner), Map(optional.ElementType, owner));
        return library.GetType(type.FullName)
            ?? throw new InvalidOperationException(type.FullName + " is no type of mscorlib, and a graft's signature mentions it");
    }
}
