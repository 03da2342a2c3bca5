// Three domains, one after the other, each with an assembly of its own that is unloaded with it: tests/profiler.sh looks at what was loaded.
using System;

public class Worker : MarshalByRefObject {
    public int Double(int n) { return 2 * n; }
}

static class Domains {
    static int Main() {
        int sum = 0;
        for (int i = 0; i < 3; i++) {
            var domain = AppDomain.CreateDomain("child " + i);
            var worker = (Worker)domain.CreateInstanceAndUnwrap(typeof(Worker).Assembly.FullName, "Worker");
            sum += worker.Double(i);
            AppDomain.Unload(domain);
        }
        return sum == 6 ? 0 : 1;
    }
}
