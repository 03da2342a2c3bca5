using System;
using System.Text;
using System.Threading;

static class Program
{
    static void Main(string[] args)
    {
        if (args[0] == "user")
        {
            Console.WriteLine(Environment.UserName + " " + Environment.GetFolderPath(Environment.SpecialFolder.Personal));
            return;
        }
        // The table of encodings is made by a method with a large frame.
        Console.WriteLine(Encoding.GetEncodings().Length > 10);
        var thread = new Thread(() => Console.WriteLine(Encoding.GetEncoding("koi8-r").WebName));
        thread.Start();
        thread.Join();
    }
}
