// What wait handles say to bad use, names, abandoned mutexes, and waits for many. (Mono hangs in a SignalAndWait of one event.)
using System; using System.Threading; using Microsoft.Win32.SafeHandles;
class P { 
 static void Try(string w, Action a) { try { a(); Console.WriteLine(w + ": ok"); } catch (Exception e) { Console.WriteLine(w + ": " + e.GetType().Name + ": " + e.Message); } }
 static void Main() {
  bool n; var m = new Mutex(true, "vm", out n); Console.WriteLine(n); var m2 = new Mutex(true, "vm", out n); Console.WriteLine(n); 
  Try("open", () => Mutex.OpenExisting("vm").Dispose()); Try("open none", () => Mutex.OpenExisting("nope")); Try("open kind", () => Semaphore.OpenExisting("vm")); Try("open ev", () => EventWaitHandle.OpenExisting("nope")); Try("sem none", () => Semaphore.OpenExisting("nope"));
  Try("create kind", () => new Semaphore(0, 1, "vm")); Try("create kind ev", () => new EventWaitHandle(false, EventResetMode.AutoReset, "vm"));
  Mutex r; Console.WriteLine(Mutex.TryOpenExisting("nope", out r)); Console.WriteLine(Mutex.TryOpenExisting("vm", out r));
  Try("rel", () => m.ReleaseMutex()); Try("rel2", () => m.ReleaseMutex()); Try("rel3", () => m.ReleaseMutex());
  var s = new Semaphore(1, 2); Try("sem", () => Console.WriteLine(s.Release())); Try("sem full", () => s.Release()); Try("sem 0", () => s.Release(0)); Try("sem bad", () => new Semaphore(3, 2)); Try("sem bad2", () => new Semaphore(-1, 2)); Try("sem bad3", () => new Semaphore(0, 0));
  var ab = new Mutex(); var t = new Thread(() => ab.WaitOne()); t.Start(); t.Join(); Try("abandoned", () => ab.WaitOne()); Try("then", () => ab.ReleaseMutex()); Try("then2", () => ab.ReleaseMutex());
  var ab2 = new Mutex(); t = new Thread(() => ab2.WaitOne()); t.Start(); t.Join(); try { WaitHandle.WaitAny(new WaitHandle[] { new ManualResetEvent(false), ab2 }); } catch (AbandonedMutexException e) { Console.WriteLine(e.MutexIndex + " " + (e.Mutex == ab2)); }
  var ab3 = new Mutex(); t = new Thread(() => ab3.WaitOne()); t.Start(); t.Join(); try { WaitHandle.WaitAll(new WaitHandle[] { new ManualResetEvent(true), ab3 }); } catch (AbandonedMutexException e) { Console.WriteLine(e.MutexIndex + " " + (e.Mutex == ab3)); }
  Try("any 65", () => WaitHandle.WaitAny(new WaitHandle[65])); Try("any 0", () => WaitHandle.WaitAny(new WaitHandle[0])); Try("any null", () => WaitHandle.WaitAny(null)); Try("any null el", () => WaitHandle.WaitAny(new WaitHandle[1]));
  var e64 = new WaitHandle[64]; for (int i = 0; i < 64; i++) e64[i] = new ManualResetEvent(i == 63); Console.WriteLine(WaitHandle.WaitAny(e64)); Console.WriteLine(WaitHandle.WaitAll(e64, 10)); for (int i = 0; i < 63; i++) ((ManualResetEvent)e64[i]).Set(); Console.WriteLine(WaitHandle.WaitAll(e64, 10)); 
  var d = new ManualResetEvent(true); Try("dup", () => WaitHandle.WaitAll(new WaitHandle[] { d, d })); Try("dup any", () => WaitHandle.WaitAny(new WaitHandle[] { d, d }));
  d.Close(); Try("closed", () => d.WaitOne()); Try("closed set", () => d.Set()); Try("closed any", () => WaitHandle.WaitAny(new WaitHandle[] { d }));
  var a1 = new AutoResetEvent(true); var a2 = new AutoResetEvent(false); Console.WriteLine(WaitHandle.WaitAll(new WaitHandle[] { a1, a2 }, 10)); Console.WriteLine(a1.WaitOne(0));
  Try("saw", () => Console.WriteLine(WaitHandle.SignalAndWait(a1, a1))); Try("saw full", () => WaitHandle.SignalAndWait(new Semaphore(1, 1), a1, 1, false)); Try("saw mutex", () => WaitHandle.SignalAndWait(new Mutex(), a1, 1, false)); Try("saw null", () => WaitHandle.SignalAndWait(null, a1)); Console.WriteLine(WaitHandle.SignalAndWait(a2, a1, 5, false)); Console.WriteLine(a2.WaitOne(0));
  Try("neg", () => a1.WaitOne(-2)); Try("neg2", () => a1.WaitOne(TimeSpan.FromMilliseconds(-5))); Try("big", () => a1.WaitOne(TimeSpan.FromDays(100)));
  var rm = new Mutex(); rm.WaitOne(); rm.WaitOne(); WaitHandle.WaitAll(new WaitHandle[] { rm }); rm.ReleaseMutex(); rm.ReleaseMutex(); bool other = true; t = new Thread(() => other = rm.WaitOne(0)); t.Start(); t.Join(); Console.WriteLine(other); rm.ReleaseMutex();
  var h = a1.SafeWaitHandle; Console.WriteLine(h.IsInvalid + " " + h.IsClosed); a1.Dispose(); Console.WriteLine(h.IsClosed); 
  var x = new ManualResetEvent(false); var y = new ManualResetEvent(false); y.SafeWaitHandle = x.SafeWaitHandle; x.Set(); Console.WriteLine(y.WaitOne(0));
  var disp = new ManualResetEvent(false); t = new Thread(() => Try("waiter", () => Console.WriteLine(disp.WaitOne(300)))); t.Start(); Thread.Sleep(50); disp.Dispose(); t.Join();
  var named = new EventWaitHandle(false, EventResetMode.ManualReset, "ve", out n); Console.WriteLine(n); var named2 = new EventWaitHandle(true, EventResetMode.AutoReset, "ve", out n); Console.WriteLine(n); named.Set(); Console.WriteLine(named2.WaitOne(0) + " " + named2.WaitOne(0)); named.Dispose(); named2.Dispose(); Try("gone", () => EventWaitHandle.OpenExisting("ve"));
 }}
