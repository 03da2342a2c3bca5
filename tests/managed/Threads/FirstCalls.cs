using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

// Methods, virtual tables, interface stubs, generics and delegates that eight threads meet for the first time together.
static class FirstCalls
{
	interface IShape { int Area (); int Corners (); string Name { get; } }
	abstract class Shape : IShape {
		public abstract int Area ();
		public virtual int Corners () { return 4; }
		public virtual string Name { get { return GetType ().Name; } }
	}
	class Square : Shape { int s; public Square (int s) { this.s = s; } public override int Area () { return s * s; } }
	class Rectangle : Square { int h; public Rectangle (int w, int h) : base (w) { this.h = h; } public override int Area () { return base.Area () + h; } }
	class Triangle : Shape { public override int Area () { return 1; } public override int Corners () { return 3; } public override string Name { get { return "three"; } } }
	struct Point : IShape, IComparable<Point> {
		public int X;
		public int Area () { return 0; }
		public int Corners () { return X; }
		public string Name { get { return "point"; } }
		public int CompareTo (Point o) { return X.CompareTo (o.X); }
	}

	static int Generic<T> (IEnumerable<T> all) where T : IComparable<T> { return all.OrderBy (x => x).Select (x => x.ToString ()).Distinct ().Count (); }

	static string Work (int n)
	{
		var shapes = new List<IShape> { new Square (n), new Rectangle (n, 2), new Triangle (), new Point { X = 7 } };
		int area = shapes.Sum (s => s.Area ()), corners = shapes.Sum (s => s.Corners ());
		string names = string.Join (",", shapes.Select (s => s.Name));
		int g = Generic (new [] { 3, 1, 2 }) + Generic (new [] { "b", "a" }) + Generic (new [] { new Point { X = 1 } }) + Generic (new [] { 1.5, 2.5 });
		var map = new SortedDictionary<string, Func<int, int>> { { "double", x => x * 2 }, { "square", x => x * x } };
		int f = map.Values.Aggregate (3, (x, func) => func (x));
		return string.Format ("{0} {1} {2} {3} {4}", area - n * n * 2, corners, names, g, f);
	}

	static void Main ()
	{
		var results = new string [8];
		var threads = new Thread [8];
		var ready = new ManualResetEvent (false);
		for (int i = 0; i < threads.Length; i++) {
			int n = i;
			threads [i] = new Thread (() => { ready.WaitOne (); results [n] = Work (n); });
			threads [i].Start ();
		}
		ready.Set ();
		foreach (var t in threads) t.Join ();
		foreach (var r in results.Distinct ()) Console.WriteLine (r);
	}
}
