// Sum's loop initialises a class when it runs first: its code checks that, until the method is compiled again. Plain's code cannot be better.
using System;

static class Table
{
    static readonly int[] numbers;
    static Table() { numbers = new[] { 1, 2, 3, 4 }; }
    public static int At(int i) { return numbers[i & 3]; }
}

static class Early
{
    static int Sum(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++) sum += Table.At(i);
        return sum;
    }
    static int Plain(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++) sum += i * i;
        return sum;
    }
    static void Main()
    {
        int sum = 0;
        for (int i = 0; i < 200; i++) sum += Sum(100) + Plain(100);
        Console.WriteLine(sum);
    }
}
