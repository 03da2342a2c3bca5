namespace Four { public class Thing { public int N = 2; } }
