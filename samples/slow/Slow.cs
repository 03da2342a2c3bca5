// A program with three faults, for docs/profiling.md. Each is one line, and none of them looks wrong.
using System;
using System.Collections.Generic;
using System.Threading;

class Customer
{
    public string Name;
    public int Orders;
}

class Shop
{
    readonly List<Customer> customers = new List<Customer>();
    readonly object gate = new object();
    string log = "";

    public void Open(int count)
    {
        for (int n = 0; n < count; n++)
            customers.Add(new Customer { Name = "customer " + n });
    }

    Customer Find(string name)
    {
        return customers.Find(c => c.Name == name);        // looks at every customer
    }

    void Write(string line)
    {
        log += line + "\n";                                // copies the whole log
        if (log.Length > 20000)
            log = "";
    }

    public void Order(int number)
    {
        Customer customer = Find("customer " + number % customers.Count);
        lock (gate)
        {
            customer.Orders++;
            Write("order " + number + " of " + customer.Name);
            if (number % 20 == 0)
                Thread.Sleep(1);                           // the others wait
        }
    }
}

class Program
{
    static void Main(string[] arguments)
    {
        int orders = arguments.Length > 0 ? int.Parse(arguments[0]) : 4000;
        var shop = new Shop();
        shop.Open(2000);
        var clerks = new List<Thread>();
        for (int clerk = 0; clerk < 3; clerk++)
        {
            int first = clerk;
            var thread = new Thread(() =>
            {
                for (int n = first; n < orders * 3; n += 3)
                    shop.Order(n * 7);
            });
            thread.Name = "clerk " + clerk;
            thread.Start();
            clerks.Add(thread);
        }
        foreach (Thread thread in clerks)
            thread.Join();
    }
}
