// Objects for stores.c: an old holder of a struct with a reference, and young strings.
using System;

public struct Named { public object Name; public long Number; }

public class Holder
{
    public Named Value;
    public object Slot;

    public static object Young () { return new string ('y', 10); }
    public static string Read (Holder holder) { return holder.Value.Name + " " + holder.Value.Number; }
}
