// What Marshal says of types without a native form, and of nulls.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

static class MarshalRefusals
{
    [StructLayout(LayoutKind.Auto)] struct Auto { public int X; }
    [StructLayout(LayoutKind.Auto)] class AutoClass { public int X; }

    static void Try(string what, Action action)
    {
        try { action(); Console.WriteLine(what + ": done"); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name + ": " + e.Message); }
    }

    static void Main()
    {
        IntPtr p = Marshal.AllocHGlobal(64);
        Try("size of no type", () => Marshal.SizeOf((Type)null));
        Try("size of auto", () => Marshal.SizeOf(typeof(Auto)));
        Try("size of enum", () => Marshal.SizeOf(typeof(DayOfWeek)));
        Try("to native, auto", () => Marshal.StructureToPtr(new Auto { X = 1 }, p, false));
        Try("to native, auto class", () => Marshal.StructureToPtr(new AutoClass { X = 1 }, p, false));
        Try("to native, list", () => Marshal.StructureToPtr(new List<int>(), p, false));
        Try("to native, string", () => Marshal.StructureToPtr("a", p, false));
        Try("to native, DateTime", () => Marshal.StructureToPtr(DateTime.Now, p, false));
        Try("to native, null", () => Marshal.StructureToPtr(null, p, false));
        Marshal.WriteInt32(p, 0);
        Try("to native, enum", () => Marshal.StructureToPtr(DayOfWeek.Friday, p, false));
        Console.WriteLine(Marshal.ReadInt32(p));
        Try("to managed, auto", () => Marshal.PtrToStructure(p, typeof(Auto)));
        Try("to managed, auto object", () => Marshal.PtrToStructure(p, new AutoClass()));
        Try("to managed, no type", () => Marshal.PtrToStructure(p, (Type)null));
        Try("to managed, dictionary", () => Marshal.PtrToStructure(p, typeof(Dictionary<string, List<int>>)));
        Try("destroy, auto", () => Marshal.DestroyStructure(p, typeof(Auto)));
        Try("destroy, no type", () => Marshal.DestroyStructure(p, null));
        Marshal.FreeHGlobal(p);
    }
}
