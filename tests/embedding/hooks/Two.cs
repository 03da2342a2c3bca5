namespace Two { public class Thing { public int N = 2; } }
