// mcs: -r:System.Core
using System;
using System.Collections.Generic;
using System.Linq;
using System.Linq.Expressions;

class CompiledExpressions
{
    class P { public string Name; public int Age { get; set; } public List<int> L = new List<int>(); }
    static void Main()
    {
        Expression<Func<int, int, int>> add = (a, b) => a * b + 1;
        Console.WriteLine(add.Compile()(6, 7)); // expect: 43
        int captured = 5;
        Expression<Func<int>> cap = () => captured + 1;
        var f = cap.Compile();
        captured = 10;
        Console.WriteLine(f()); // expect: 11
        Expression<Func<P, string>> prop = p => p.Name + ":" + p.Age;
        Console.WriteLine(prop.Compile()(new P { Name = "n", Age = 3 })); // expect: n:3
        Expression<Func<string, P>> make = s => new P { Name = s, Age = s.Length, L = { 1, 2, 3 } };
        var made = make.Compile()("hello");
        Console.WriteLine(made.Name + made.Age + made.L.Count); // expect: hello53
        // Nested lambdas and closures
        Expression<Func<int, Func<int, int>>> curry = x => y => x - y;
        Console.WriteLine(curry.Compile()(10)(4)); // expect: 6
        // Statements: loop, try, switch
        var n = Expression.Parameter(typeof(int), "n");
        var sum = Expression.Variable(typeof(int), "sum");
        var brk = Expression.Label(typeof(int));
        var loop = Expression.Lambda<Func<int, int>>(Expression.Block(new[] { sum },
            Expression.Assign(sum, Expression.Constant(0)),
            Expression.Loop(Expression.IfThenElse(Expression.GreaterThan(n, Expression.Constant(0)),
                Expression.Block(Expression.AddAssign(sum, n), Expression.PostDecrementAssign(n)),
                Expression.Break(brk, sum)), brk)), n);
        Console.WriteLine(loop.Compile()(10)); // expect: 55
        var s1 = Expression.Parameter(typeof(string), "s");
        var tr = Expression.Lambda<Func<string, int>>(Expression.TryCatchFinally(
            Expression.Call(typeof(int).GetMethod("Parse", new[] { typeof(string) }), s1),
            Expression.Call(typeof(Console).GetMethod("WriteLine", new[] { typeof(string) }), Expression.Constant("fin")),
            Expression.Catch(typeof(FormatException), Expression.Constant(-1))), s1);
        Console.WriteLine(tr.Compile()("12"));
        // expect: fin
        // expect: 12
        Console.WriteLine(tr.Compile()("zz"));
        // expect: fin
        // expect: -1
        var sw = Expression.Lambda<Func<string, int>>(Expression.Switch(s1, Expression.Constant(0),
            Expression.SwitchCase(Expression.Constant(1), Expression.Constant("a")),
            Expression.SwitchCase(Expression.Constant(2), Expression.Constant("b"), Expression.Constant("c"))), s1);
        var swc = sw.Compile();
        Console.WriteLine(swc("a") + swc("c") + swc("x")); // expect: 3
        // LINQ over IQueryable compiles expressions.
        var q = new[] { 3, 1, 2 }.AsQueryable().Where(x => x > 1).OrderBy(x => x).Select(x => x * x);
        Console.WriteLine(string.Join(",", q)); // expect: 4,9
        Expression<Func<decimal, decimal?, object>> conv = (d, e) => e.HasValue ? (object)(d + e.Value) : null;
        Console.WriteLine(conv.Compile()(1.5m, 2m)); // expect: 3.5
        Console.WriteLine(conv.Compile()(1.5m, null) == null); // expect: True
        checked { Expression<Func<int, int>> ov = x => checked(x + int.MaxValue);
            try { ov.Compile()(1); } catch (OverflowException) { Console.WriteLine("overflow"); } } // expect: overflow
    }
}
