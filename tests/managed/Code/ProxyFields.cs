// Fields of classes that may have proxies: `this` in loops, in handlers, after it was written, and of others.
using System;

class Far : MarshalByRefObject {
    public int A; public long B; public Far Next; public string S = "s";
    public int Loop(int n) { for (int i = 0; i < n; i++) { A += i; if (i % 3 == 0) B += A; } return A; }
    public int Handled(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            try { A++; if (i % 5 == 0) throw new InvalidOperationException(); sum += A; }
            catch (InvalidOperationException) { A += 2; sum += (int)B; }
            finally { B++; }
        }
        return sum;
    }
    public string Filtered(int n) { try { if (n > 0) throw new Exception(S + n); return S; } catch (Exception e) when (e.Message == S + A) { A++; return "caught " + S; } catch (Exception e) { return "other " + e.Message + A; } }
    public int Other(Far o, int n) { int s = 0; for (int i = 0; i < n; i++) { s += o.A + A; o.B++; } return s; }
    public int Chain() { int s = 0; for (var f = this; f != null; f = f.Next) s += f.A; return s; }
    public int Captured(int n) { int s = 0; Action<int> add = x => { s += A + x; B = s; }; for (int i = 0; i < n; i++) add(i); return s + (int)B; }
    public Far Self() { return this; }
}
class Bound : ContextBoundObject { public int A; public int Loop(int n) { for (int i = 0; i < n; i++) A += i; return A; } }

static class Program
{
    static string All(Far f, Far near)
    {
        f.A = 1; f.B = 2;
        string r = f.Loop(1000) + " " + f.Handled(50) + " " + f.Filtered(0) + " " + f.Filtered(f.A) + " " + f.Filtered(-1) + " " + f.Filtered(3);
        r += " " + f.Other(near, 10) + " " + near.B + " " + f.Other(f.Self(), 10) + " " + f.B + " " + f.Chain() + " " + f.Captured(20) + " " + f.S + f.A;
        for (int i = 0; i < 5; i++) { f.A += i; f.B -= f.A; }
        return r + " " + f.A + " " + f.B;
    }
    static void Main()
    {
        for (int round = 0; round < 2; round++) {
            Console.WriteLine(All(new Far { Next = new Far { A = 5 } }, new Far { A = 7 }));
            var domain = AppDomain.CreateDomain("d");
            var far = (Far)domain.CreateInstanceAndUnwrap(typeof(Far).Assembly.FullName, "Far");
            Console.WriteLine(All(far, new Far { A = 7 }));
            AppDomain.Unload(domain);
        }
        Console.WriteLine(new Bound { A = 3 }.Loop(100));
    }
}
