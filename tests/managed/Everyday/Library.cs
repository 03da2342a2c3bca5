// What the class library does in a day: numbers, dates, files, compression, cryptography, serialization, data, XML.
// mcs: -r:System.Data.dll -r:System.Numerics.dll -r:System.Xml.dll -r:System.Xml.Linq.dll -r:System.Web.Extensions.dll -r:Microsoft.CSharp.dll
using System; using System.Collections; using System.Collections.Generic; using System.Collections.Concurrent; using System.ComponentModel; using System.Data; using System.Diagnostics; using System.Globalization; using System.IO; using System.IO.Compression; using System.Linq; using System.Numerics; using System.Reflection; using System.Resources; using System.Runtime.Serialization.Formatters.Binary; using System.Security.Cryptography; using System.Text; using System.Xml; using System.Xml.XPath; using System.Xml.Linq; using System.Text.RegularExpressions;
[Serializable] class Ser { public int A = 5; public string B = "bb"; public List<int> L = new List<int>{1,2}; }
[Flags] enum Fl { A=1, B=2, C=4 }
class P {
 static void T(string n, Action a) { try { Console.Write(n + ": "); a(); } catch (Exception e) { Console.WriteLine("EXC " + e.GetType().Name + " " + e.Message.Split('\n')[0]); } }
 static IEnumerable<int> It() { for (int i = 0; i < 3; i++) { try { yield return i; } finally { Console.Write("f" + i + " "); } } }
 static void Main() {
  T("bigint", () => Console.WriteLine(BigInteger.Pow(7, 120)));
  T("decimal", () => Console.WriteLine(1.1m * 3 / 7 + " " + decimal.Round(2.345m, 2) + " " + (1m/3)));
  T("double", () => Console.WriteLine((0.1+0.2).ToString("R") + " " + 1e300*10 + " " + double.NaN + " " + (1.0/3).ToString("N5") + " " + 12345.678.ToString("C", CultureInfo.InvariantCulture) + " " + float.Parse("3.25") + " " + double.Parse("1e-5", CultureInfo.InvariantCulture)));
  T("date", () => Console.WriteLine(new DateTime(2020,2,29,13,5,7).AddYears(1).ToString("yyyy-MM-dd HH:mm:ss dddd") + " " + new DateTime(2020,1,1).DayOfYear + " " + TimeSpan.FromSeconds(3725) + " " + DateTime.Parse("2021-03-04T05:06:07Z").ToUniversalTime().ToString("o")));
  T("guid", () => Console.WriteLine(new Guid("00112233-4455-6677-8899-aabbccddeeff").ToString("B") + Guid.NewGuid().ToString().Length));
  T("file", () => { var f = Path.GetTempFileName(); File.WriteAllText(f, "héllo\nworld\n"); Console.WriteLine(File.ReadAllLines(f).Length + " " + new FileInfo(f).Length); using (var w = new StreamWriter(f, true, Encoding.UTF8)) w.WriteLine("x"); Console.WriteLine(File.ReadAllText(f).Length); File.Delete(f); Console.WriteLine(File.Exists(f)); });
  T("dir", () => { var d = Path.Combine(Path.GetTempPath(), "vd" + Process.GetCurrentProcess().Id); Directory.CreateDirectory(d + "/a/b"); File.WriteAllText(d + "/a/x.txt", "1"); Console.WriteLine(string.Join(",", Directory.GetFiles(d, "*", SearchOption.AllDirectories).Select(Path.GetFileName))); Directory.Delete(d, true); });
  T("gzip", () => { var ms = new MemoryStream(); using (var g = new GZipStream(ms, CompressionMode.Compress, true)) g.Write(new byte[10000], 0, 10000); ms.Position = 0; var o = new MemoryStream(); using (var g = new GZipStream(ms, CompressionMode.Decompress)) g.CopyTo(o); Console.WriteLine(o.Length + " " + (ms.Length < 200)); });
  T("hash", () => { using (var s = SHA256.Create()) Console.WriteLine(BitConverter.ToString(s.ComputeHash(Encoding.ASCII.GetBytes("abc"))).Substring(0, 20)); using (var m = MD5.Create()) Console.WriteLine(Convert.ToBase64String(m.ComputeHash(new byte[3]))); });
  T("aes", () => { using (var a = Aes.Create()) { a.Key = new byte[16]; a.IV = new byte[16]; using (var e = a.CreateEncryptor()) Console.WriteLine(Convert.ToBase64String(e.TransformFinalBlock(new byte[5], 0, 5))); } });
  T("rsa", () => { using (var r = new RSACryptoServiceProvider(512)) { var s = r.SignData(new byte[3], "SHA1"); Console.WriteLine(r.VerifyData(new byte[3], "SHA1", s)); } });
  T("ser", () => { var b = new BinaryFormatter(); var m = new MemoryStream(); b.Serialize(m, new Ser()); m.Position = 0; var s = (Ser)b.Deserialize(m); Console.WriteLine(s.A + s.B + s.L.Count); });
  T("enum", () => Console.WriteLine((Fl.A|Fl.C) + " " + Enum.Parse(typeof(Fl), "B") + " " + string.Join(",", Enum.GetNames(typeof(Fl))) + " " + ((Fl)9) + " " + Enum.IsDefined(typeof(Fl), 3) + " " + Fl.A.HasFlag(Fl.A)));
  T("iter", () => { foreach (var i in It()) { Console.Write(i); if (i == 1) break; } Console.WriteLine(); });
  T("linq", () => Console.WriteLine(string.Join(" ", from a in Enumerable.Range(1,4) join b in new[]{2,4,4} on a equals b into g from x in g.DefaultIfEmpty() orderby a descending select a + ":" + x)));
  T("dt", () => { var t = new DataTable("t"); t.Columns.Add("a", typeof(int)); t.Columns.Add("b", typeof(string)); t.Rows.Add(1, "x"); t.Rows.Add(2, "y"); Console.WriteLine(t.Select("a > 1")[0]["b"] + " " + t.Compute("SUM(a)", "")); });
  T("xpath", () => { var d = new XPathDocument(new StringReader("<a><b n='1'/><b n='2'/></a>")); Console.WriteLine(d.CreateNavigator().Evaluate("sum(//b/@n)")); });
  T("conc", () => { var c = new ConcurrentDictionary<string,int>(); c.AddOrUpdate("a", 1, (k,v) => v+1); c.AddOrUpdate("a", 1, (k,v) => v+1); Console.WriteLine(c["a"]); var q = new ConcurrentQueue<int>(); q.Enqueue(3); int r; q.TryDequeue(out r); Console.WriteLine(r); });
  T("regex", () => Console.WriteLine(Regex.Split("a1b22c", @"\d+").Length + " " + Regex.IsMatch("foo@bar.com", @"^[\w.]+@[\w.]+$", RegexOptions.IgnoreCase) + " " + new Regex(@"(?<=a)b+?c", RegexOptions.RightToLeft).Match("abbc").Value));
  T("regexc", () => Console.WriteLine(new Regex("a+b", RegexOptions.Compiled).Match("xaab").Value));
  T("fmt", () => Console.WriteLine(string.Format("{0,8:X4}|{1,-6}|{2:P1}|{3:#,##0.00}|{4:e3}", 255, "ab", 0.256, 1234567.891, 12345.6789)));
  T("sb", () => { var sb = new StringBuilder("abc"); sb.Insert(1, "zz").Replace("z", "yy").Remove(0, 1).Append('!', 3); Console.WriteLine(sb); });
  T("str", () => Console.WriteLine("İstanbul".ToUpperInvariant() + " " + string.Compare("a", "B", StringComparison.OrdinalIgnoreCase) + " " + "straße".Contains("ß") + " " + "a,b;c".Split(',', ';').Length + " " + " x ".Trim() + "|" + "abc".PadLeft(5) + " " + "Hello".IndexOf("LL", StringComparison.CurrentCultureIgnoreCase) + " " + string.Compare("co-op", "coop", CultureInfo.InvariantCulture, CompareOptions.None)));
  T("attr", () => Console.WriteLine(typeof(Ser).IsSerializable + " " + typeof(Fl).GetCustomAttributes(false).Length + " " + typeof(P).GetMethods(BindingFlags.Static|BindingFlags.NonPublic).Length));
  T("refl", () => { var l = Activator.CreateInstance(typeof(List<>).MakeGenericType(typeof(int))); l.GetType().GetMethod("Add").Invoke(l, new object[]{5}); Console.WriteLine(((IList)l).Count + " " + l.GetType()); });
  T("type", () => Console.WriteLine(Type.GetType("System.Collections.Generic.Dictionary`2[[System.String],[System.Int32]]") + " " + typeof(int[,]).Name + " " + typeof(Dictionary<,>.Enumerator).FullName));
  T("dele", () => { Func<int,int> f = x => x + 1; f += x => x * 2; Console.WriteLine(f(5) + " " + f.GetInvocationList().Length + " " + f.DynamicInvoke(3)); });
  T("tuple", () => { var t = (a: 1, b: "x"); Console.WriteLine(t + " " + Tuple.Create(1, 2)); });
  T("lazy", () => { var l = new Lazy<int>(() => 42); Console.WriteLine(l.Value); });
  T("weak", () => { var w = new WeakReference<string>("x"); string s; Console.WriteLine(w.TryGetTarget(out s) + s); });
  T("checked", () => { int i = int.MaxValue; try { checked { i++; } } catch (OverflowException) { Console.WriteLine("ovf"); } });
  T("nullable", () => { int? n = null; Console.WriteLine((n ?? 7) + " " + (n == null) + " " + ((object)(int?)3).GetType()); });
  T("uri", () => Console.WriteLine(new Uri(new Uri("http://a.b/c/d?x=1#f"), "../e").ToString()));
  T("proc", () => { var p = Process.Start(new ProcessStartInfo("/bin/echo", "hi there") { RedirectStandardOutput = true, UseShellExecute = false }); Console.Write(p.StandardOutput.ReadToEnd()); p.WaitForExit(); Console.WriteLine(p.ExitCode); });
  T("task", () => Console.WriteLine(System.Threading.Tasks.Task.FromResult(5).Result));
  T("json", () => Console.WriteLine(new System.Web.Script.Serialization.JavaScriptSerializer().Serialize(new Dictionary<string,object>{{"a",1},{"b",new[]{1,2}}})));
  T("xmlser", () => { var x = new System.Xml.Serialization.XmlSerializer(typeof(int)); var w = new StringWriter(); x.Serialize(w, 5); Console.WriteLine(w.ToString().Length); });
 } }
