using System;

class AAAAA { public static int Method1() { return 1; } public int Field1 = 5; }
class BBBBB { public static int Method1() { return 2; } public static int Method2() { return 3; } public int Field1 = 6; }

static class Program
{
    static void Main()
    {
        Console.WriteLine(AAAAA.Method1() + " " + BBBBB.Method1() + " " + BBBBB.Method2() + " " + new AAAAA().Field1 + " " + new BBBBB().Field1);
    }
}
