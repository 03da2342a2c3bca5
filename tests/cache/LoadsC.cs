public class C { public static int V; public static int Get () { return V + 2; } }
