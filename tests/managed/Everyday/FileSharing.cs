// Every pair, and every three, of FileAccess and FileShare for one file: which opens are refused, as in mono.
using System; using System.IO;
class S { static void Main() { var p = Path.GetTempFileName(); var acc = new[]{FileAccess.Read,FileAccess.Write,FileAccess.ReadWrite};
 foreach (var a in acc) for (int s=0;s<8;s++) { Console.Write(a+" "+s+": "); foreach (var b in acc) for (int t=0;t<8;t++) { 
   string r; using (var f = new FileStream(p, FileMode.OpenOrCreate, a, (FileShare)s)) { try { using (new FileStream(p, FileMode.Open, b, (FileShare)t)) r="+"; } catch (IOException) { r="-"; } } Console.Write(r); if (t==7) Console.Write(" "); } Console.WriteLine(); } 
 // three handles
 foreach (var a in acc) for (int s=0;s<4;s++) foreach (var b in acc) for (int t=0;t<4;t++) { string o=""; FileStream g=null; using (var f = new FileStream(p, FileMode.OpenOrCreate, a, (FileShare)s)) { try { g=new FileStream(p, FileMode.Open, b, (FileShare)t); } catch (IOException) { continue; } foreach (var c in acc) for (int u=0;u<4;u++) try { using (new FileStream(p, FileMode.Open, c, (FileShare)u)) o+="+"; } catch (IOException) { o+="-"; }
   f.Close(); o+=" "; foreach (var c in acc) for (int u=0;u<4;u++) try { using (new FileStream(p, FileMode.Open, c, (FileShare)u)) o+="+"; } catch (IOException) { o+="-"; } } g.Close(); Console.WriteLine("{0} {1} {2} {3}: {4}",a,s,b,t,o); }
 File.Delete(p); } }
