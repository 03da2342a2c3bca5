public class Z { public static int S; static Z () { S = 5; } }
public class X { public static int Get () { if (Z.S < 0) throw new System.Exception (); return D.V; } }
