// Runs Order.exe in a domain of its own, and itself uses what that uses.
using System;
using System.IO;

static class Second {
    static int Main (string[] args) {
        string program = Path.Combine (AppDomain.CurrentDomain.BaseDirectory, "Order.exe");
        return AppDomain.CreateDomain ("second").ExecuteAssembly (program, args);
    }
}
