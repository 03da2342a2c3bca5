namespace Six { public class Thing { public int N = 2; } }
