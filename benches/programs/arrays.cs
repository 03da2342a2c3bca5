using System;

static class Bench
{
    static void Main ()
    {
        const int N = 420; var a = new double [N, N]; var b = new double [N][]; double sum = 0;
        for (int i = 0; i < N; i++) { b [i] = new double [N]; for (int j = 0; j < N; j++) { a [i, j] = i + j; b [i] [j] = i - j; } }
        for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { double s = 0; for (int k = 0; k < N; k++) s += a [i, k] * b [k] [j]; sum += s; }
        Console.WriteLine (sum);
    }
}
