public class D { public static int V; public static int Get () { return V + 1; } }
