using System;

static class Bench
{
    class Tree { public Tree Left, Right; public static Tree Make (int d) { return d == 0 ? new Tree () : new Tree { Left = Make (d - 1), Right = Make (d - 1) }; }
        public int Count () { return Left == null ? 1 : 1 + Left.Count () + Right.Count (); } }
    static void Main () { var keep = Tree.Make (18); long n = 0; for (int i = 0; i < 400; i++) n += Tree.Make (14).Count (); Console.WriteLine (n + keep.Count ()); }
}
