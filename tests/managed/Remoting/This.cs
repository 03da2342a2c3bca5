// Within methods of a context-bound object `this` is its proxy, the same that others have: the object itself never gets out of its context. Accesses of its fields reach it.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Contexts;
using System.Threading;

[Synchronization]
class Bound : ContextBoundObject
{
    public int Number = 3;
    public string Text = "text";
    public DateTime Date = new DateTime(2000, 1, 1);
    public decimal? Maybe = 1.5m;
    public Bound Kept;
    public static Bound Last;

    public Bound() { Console.WriteLine("constructor " + IsProxy(this)); }
    static bool IsProxy(object o) { return RemotingServices.IsTransparentProxy(o); }
    static void Add(ref int number) { number++; }

    public Bound Self() { return this; }
    public bool Asks() { return IsProxy(this); }
    public virtual bool Virtual() { return IsProxy(this); }
    public bool IsSame(object other) { return ReferenceEquals(this, other); }
    public void Keep() { Kept = this; Last = this; }
    public bool IsKept() { return IsProxy(Kept) && ReferenceEquals(Kept, this); }
    public bool Chain() { return Asks() && Virtual() && Self().Asks(); }
    public Func<bool> Delegate() { return Asks; }
    public Func<int> Closure() { return () => Number; }
    public bool IsInDefault() { return Thread.CurrentContext == Context.DefaultContext; }
    public int Hash() { return RuntimeHelpers.GetHashCode(this); }
    public void Lock() { lock (this) Console.WriteLine("locked"); }
    public object Clone() { return MemberwiseClone(); }
    public object Lease() { return GetLifetimeService(); }
    public override string ToString() { return "Bound " + IsProxy(this); }
    public void Fields()
    {
        Number = 4;
        Number++;
        Text += "s";
        Date = Date.AddDays(1);
        Maybe += 1;
        Add(ref Number);
        Bound other = this;
        other.Number += 10;
        Console.WriteLine(Number + " " + Text + " " + Date.Day + " " + Maybe + " " + other.Text.Length);
    }
    public void Throws() { Number = 77; throw new InvalidOperationException("thrown"); }
}

static class This
{
    static bool IsProxy(object o) { return RemotingServices.IsTransparentProxy(o); }
    static void Main()
    {
        var bound = new Bound();                                                            // expect: constructor True
        Console.WriteLine(IsProxy(bound) + " " + bound.Asks() + " " + IsProxy(bound.Self())); // expect: True True True
        Console.WriteLine(ReferenceEquals(bound, bound.Self()) + " " + bound.IsSame(bound)); // expect: True True
        bound.Keep();
        Console.WriteLine(bound.IsKept() + " " + ReferenceEquals(Bound.Last, bound) + " " + ReferenceEquals(bound.Kept, bound)); // expect: True True True
        Console.WriteLine(bound.Virtual() + " " + bound.Chain() + " " + bound);             // expect: True True Bound True
        Console.WriteLine(bound.IsInDefault() + " " + Bound.Last.IsInDefault());            // expect: False False
        var asks = bound.Delegate();
        Console.WriteLine(asks() + " " + ReferenceEquals(asks.Target, bound) + " " + bound.Closure()()); // expect: True True 3
        Console.WriteLine(bound.Hash() == RuntimeHelpers.GetHashCode(bound));               // expect: True
        Console.WriteLine(bound.Lease() == null);                                           // expect: True
        bound.Fields();                                                                     // expect: 16 texts 2 2.5 5
        Console.WriteLine(bound.Number + " " + bound.Text);                                 // expect: 16 texts
        try { bound.Throws(); } catch (InvalidOperationException e) { Console.WriteLine(e.Message + " " + bound.Number); } // expect: thrown 77

        // Others can keep it out: there is one monitor.
        var thread = new Thread(bound.Lock);
        lock (bound) {
            thread.Start();
            Console.WriteLine(thread.Join(200)); // expect: False
        }
        thread.Join(); // expect: locked

        Console.WriteLine(IsProxy(typeof(Bound).GetMethod("Self").Invoke(bound, null)) + " " + typeof(Bound).GetMethod("Asks").Invoke(bound, null)); // expect: True True
        typeof(Bound).GetField("Number").SetValue(bound, 8);
        Console.WriteLine(bound.Number + " " + typeof(Bound).GetField("Number").GetValue(bound)); // expect: 8 8

        // What is cloned is the proxy.
        var clone = (Bound)bound.Clone();
        Console.WriteLine(IsProxy(clone) + " " + clone.Number); // expect: True 8
        clone.Number = 100;
        Console.WriteLine(bound.Number); // expect: 100
    }
}
