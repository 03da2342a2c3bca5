namespace Three { public class Thing { public int N = 2; } }
