// The lease of an object that another domain made ends: calls renew it, and so do sponsors, as long as they want to.
// gc-debug: no, the lease might end before its sponsor is there
using System;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Lifetime;
using System.Threading;

class Leased : MarshalByRefObject
{
    public int Add(int a, int b) { return a + b; }
    public override object InitializeLifetimeService()
    {
        var lease = (ILease)base.InitializeLifetimeService();
        if (lease.CurrentState == LeaseState.Initial) {
            lease.InitialLeaseTime = TimeSpan.FromSeconds(2);
            lease.RenewOnCallTime = TimeSpan.FromMilliseconds(100);
            lease.SponsorshipTimeout = TimeSpan.FromSeconds(10);
        }
        return lease;
    }
}
class Maker : MarshalByRefObject
{
    public Leased Make() { return new Leased(); }
    public void Hurry() { LifetimeServices.LeaseManagerPollTime = TimeSpan.FromMilliseconds(50); }
    public override object InitializeLifetimeService() { return null; }
}
class Sponsor : MarshalByRefObject, ISponsor
{
    public volatile int Asked;
    public TimeSpan Renewal(ILease lease) { return ++Asked < 4 ? TimeSpan.FromMilliseconds(200) : TimeSpan.Zero; }
    public override object InitializeLifetimeService() { return null; }
}

static class Leases
{
    // Waits for the end of the lease. (A proxy in another domain keeps the object itself; it goes on to answer, as in mono.)
    static string End(ILease lease)
    {
        for (int i = 0; i < 600; i++) {
            Thread.Sleep(50);
            try {
                if (lease.CurrentState == LeaseState.Expired) return "expired";
            } catch (RemotingException) {
                return "expired";
            }
        }
        return "alive";
    }

    static void Main()
    {
        Console.WriteLine(LifetimeServices.LeaseTime + " " + LifetimeServices.RenewOnCallTime + " " + LifetimeServices.SponsorshipTimeout); // expect: 00:05:00 00:02:00 00:02:00
        var domain = AppDomain.CreateDomain("other");
        var maker = (Maker)domain.CreateInstanceAndUnwrap(typeof(Maker).Assembly.FullName, "Maker");
        maker.Hurry();
        var leased = maker.Make();
        var lease = (ILease)RemotingServices.GetLifetimeService(leased);
        Console.WriteLine(lease.InitialLeaseTime + " " + lease.RenewOnCallTime + " " + lease.SponsorshipTimeout); // expect: 00:00:02 00:00:00.1000000 00:00:10
        Console.WriteLine(leased.Add(1, 2) + " " + End(lease)); // expect: 3 expired

        leased = maker.Make();
        lease = (ILease)RemotingServices.GetLifetimeService(leased);
        var sponsor = new Sponsor();
        lease.Register(sponsor);
        while (sponsor.Asked < 2) Thread.Sleep(20);
        Console.WriteLine(leased.Add(3, 4)); // expect: 7
        Console.WriteLine(End(lease) + " " + sponsor.Asked + " " + leased.Add(1, 2)); // expect: expired 4 3
        AppDomain.Unload(domain);
    }
}
