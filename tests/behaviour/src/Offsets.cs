using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;

class Link
{
    public int X;
    public Link Next;
    [MethodImpl(MethodImplOptions.NoInlining)] public Link() { }
    public Link(int x) { X = x; }
    public virtual int Virtual() { return X; }
    [MethodImpl(MethodImplOptions.NoInlining)] public Link Get() { return Next; }
}
struct Large { public long A, B, C; }

// Where in its method an exception was thrown.
static class Offsets
{
    const MethodImplOptions Apart = MethodImplOptions.NoInlining;
    [MethodImpl(Apart)] static int Divide(int a, int b) { int z = a; return a / b; }
    [MethodImpl(Apart)] static int Element(int[] a, int i) { int z = 1; return a[i]; }
    [MethodImpl(Apart)] static void StoreElement(int[] a, int i) { int z = 1; a[i + 1] = z; }
    [MethodImpl(Apart)] static void StoreField(Link f) { int z = 1; f.X = z + 2; }
    [MethodImpl(Apart)] static int Convert(long f) { int z = 1; return checked((int)f); }
    [MethodImpl(Apart)] static int Add(int f) { int z = 1; return checked(z + f); }
    [MethodImpl(Apart)] static int Unbox(object f) { int z = 1; return (int)f; }
    [MethodImpl(Apart)] static int Virtual(Link f) { int z = 1; return f.Virtual(); }
    [MethodImpl(Apart)] static Link Call(Link f) { int z = 1; return f.Get(); }
    [MethodImpl(Apart)] static int Fields(Link f) { int z = 1; return f.Next.Next.X; }
    [MethodImpl(Apart)] static int FieldVirtual(Link f) { int z = 1; return f.Next.Virtual() + 1; }
    [MethodImpl(Apart)] static int AfterCall(Link f) { int z = 1; return z + f.Get().X; }
    [MethodImpl(Apart)] static int AfterNew() { int z = 1; return new Link().Next.X; }
    [MethodImpl(Apart)] static int AfterInlinedNew() { int z = 1; return new Link(2).Next.X; }
    [MethodImpl(Apart)] static void Throw(Exception e) { int z = 1; throw e; }
    [MethodImpl(Apart)] static void ThrowNew() { int z = 1; throw new InvalidOperationException("x" + z); }
    [MethodImpl(Apart)] static void ThrowCalled() { int z = 1; throw Make(); }
    [MethodImpl(Apart)] static Exception Make() { return new Exception(); }
    [MethodImpl(Apart)] static void Rethrow(Link f) { try { f.X = 1; } catch { throw; } }
    [MethodImpl(Apart)] static void InStruct(Large[] s, int i) { int z = 1; s[i].B = 2; }
    [MethodImpl(Apart)] static int Twice(int a) { return Inner(a) + Inner(a + 1); }
    [MethodImpl(Apart)] static int Inner(int a) { return 6 / (2 - a); }
    [MethodImpl(Apart)] static object Construct(string s) { return new Uri(s); }
    [MethodImpl(Apart)] static void Delegate(Action a) { int z = 2; a(); }

    static void Try(string name, Action run)
    {
        try { run(); }
        catch (Exception e)
        {
            foreach (var frame in new StackTrace(e, true).GetFrames())
            {
                var method = frame.GetMethod();
                if (method == null || method.DeclaringType != typeof(Offsets) || method.Name != name) continue;
                Console.WriteLine("{0} 0x{1:x} {2}:{3}", name, frame.GetILOffset(), frame.GetFileLineNumber(), frame.GetFileColumnNumber());
                return;
            }
            Console.WriteLine(name + " is not there");
        }
    }
    static void Main()
    {
        Try("Divide", () => Divide(1, 0));
        Try("Element", () => Element(new int[1], 2));
        Try("StoreElement", () => StoreElement(new int[1], 2));
        Try("StoreField", () => StoreField(null));
        Try("Convert", () => Convert(1L << 40));
        Try("Add", () => Add(int.MaxValue));
        Try("Unbox", () => Unbox("x"));
        Try("Virtual", () => Virtual(null));
        Try("Call", () => Call(null));
        Try("Fields", () => Fields(new Link { Next = new Link() }));
        Try("FieldVirtual", () => FieldVirtual(new Link()));
        Try("AfterCall", () => AfterCall(new Link()));
        Try("AfterNew", () => AfterNew());
        Try("AfterInlinedNew", () => AfterInlinedNew());
        Try("Throw", () => Throw(new Exception()));
        Try("ThrowNew", () => ThrowNew());
        Try("ThrowCalled", () => ThrowCalled());
        Try("Rethrow", () => Rethrow(null));
        Try("InStruct", () => InStruct(new Large[1], 3));
        Try("Twice", () => Twice(1));
        Try("Construct", () => Construct(null));
        Try("Delegate", () => Delegate(() => { throw new Exception(); }));
        Try("Delegate", () => Delegate(null));
    }
}
