public class Derived : Two.Thing { public Four.Thing F; public Three.Thing H; }
public class Other : Five.Thing { public int Own = 9; }
public class Third { public Three.Thing G; public Six.Thing M (Six.Thing t, int n) { return t; } }
