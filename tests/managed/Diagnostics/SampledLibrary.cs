// Sampling changes nothing for a library whose own signal ends its waits, nor for system calls that are written otherwise than the C library's.
// cc: -O1 -pthread
// env: VERVET_DEBUG_SAMPLE=cpu,1000
// expect: EINTR 5
// expect: EINTR, the data are as they were: True
using System;
using System.Runtime.InteropServices;

static class SampledLibrary
{
    [DllImport("SampledLibrary")]
    static extern int wait_for_signal(int milliseconds);
    [DllImport("SampledLibrary")]
    static extern int send_until_signal(byte[] data, int length);

    static string Error(int result)
    {
        return result == -4 ? "EINTR" : result.ToString();
    }

    static void Main()
    {
        int ended = 0;
        for (int i = 0; i < 5; i++)
            ended += wait_for_signal(30) == -4 ? 1 : 0;
        Console.WriteLine("EINTR " + ended);
        var data = new byte[64];
        for (int i = 0; i < data.Length; i++)
            data[i] = (byte)(i + 1);
        string error = Error(send_until_signal(data, data.Length));
        bool same = true;
        for (int i = 0; i < data.Length; i++)
            same &= data[i] == i + 1;
        Console.WriteLine(error + ", the data are as they were: " + same);
    }
}
