namespace Five { public class Thing { public int N = 2; } }
