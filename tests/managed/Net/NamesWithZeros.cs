// A name ends at its first zero; it is not the name of this host.
using System;
using System.Net;
using System.Net.Sockets;

static class NamesWithZeros
{
    static string Addresses(string name)
    {
        try { return string.Join<IPAddress>(",", Dns.GetHostAddresses(name)); }
        catch (SocketException) { return "none"; }
    }
    static void Main()
    {
        Console.WriteLine(Addresses("localhost\0.example") == Addresses("localhost"));  // expect: True
        Console.WriteLine(Addresses("no-such-host.invalid\0x"));                        // expect: none
    }
}
