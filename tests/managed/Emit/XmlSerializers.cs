// XmlSerializer defines readers and writers for the types that it is given.
// mcs: -r:System.Xml
using System; using System.IO; using System.Xml; using System.Xml.Serialization; using System.Collections; using System.Collections.Generic;
[XmlRoot("root", Namespace="urn:x")] public class Root { [XmlElement("child", typeof(Child)), XmlElement("sub", typeof(Sub)), XmlElement("other", typeof(Other))] public object[] Items; [XmlArray("list"), XmlArrayItem("i")] public List<int?> L; [XmlText] public string Text; [XmlAnyAttribute] public XmlAttribute[] Any; [XmlAttribute("e")] public E1 E; }
[Flags] public enum E1 { A = 1, B = 2 }
[XmlInclude(typeof(Sub))] public class Child { public string Name { get; set; } public TimeSpanWrap T; public decimal D; public Guid G; public byte[] Bytes; [XmlElement(DataType="date")] public DateTime Day; public char C = 'q'; }
public class TimeSpanWrap : IXmlSerializable { public TimeSpan V; public System.Xml.Schema.XmlSchema GetSchema() { return null; } public void ReadXml(XmlReader r) { V = TimeSpan.Parse(r.ReadElementContentAsString()); } public void WriteXml(XmlWriter w) { w.WriteString(V.ToString()); } }
public class Sub : Child { public int More; [XmlIgnore] public bool PSpecified; public int P; }
public class Other { [XmlAttribute] public string A; public Other Next; public XmlElement El; [XmlElement("Rep")] public string[] Rep; }
class P { static void Main() {
 var x = new XmlSerializer(typeof(Root));
 var doc = new XmlDocument(); doc.LoadXml("<el a='1'>t</el>");
 var r = new Root { E = E1.A|E1.B, L = new List<int?>{1,null,3}, Items = new object[]{ new Child{Name="n", T=new TimeSpanWrap{V=TimeSpan.FromHours(1)}, D=1.5m, G=Guid.Empty, Bytes=new byte[]{1,2,3}, Day=new DateTime(2001,2,3)}, new Sub{More=4, PSpecified=true, P=5}, new Other{A="a", Next=new Other{A="b"}, El=doc.DocumentElement, Rep=new[]{"x","y"}} } };
 var sw = new StringWriter(); var ns = new XmlSerializerNamespaces(); ns.Add("q", "urn:x"); x.Serialize(sw, r, ns); Console.WriteLine(sw);
 var b = (Root)x.Deserialize(new StringReader(sw.ToString()));
 Console.WriteLine(b.Items.Length + " " + b.Items[1].GetType().Name + ((Sub)b.Items[1]).P + b.L.Count + b.E + ((Other)b.Items[2]).Next.A + ((Child)b.Items[0]).T.V + ((Other)b.Items[2]).El.OuterXml + ((Other)b.Items[2]).Rep.Length);
 try { x.Deserialize(new StringReader("<root xmlns='urn:x'><child><D>zz</D></child></root>")); } catch (Exception e) { Console.WriteLine(e.GetType().Name + " " + e.Message + " " + e.InnerException.GetType().Name); }
 foreach (var t in new[]{typeof(int), typeof(string[]), typeof(ArrayList), typeof(List<Dictionary1>)}) { try { var s = new XmlSerializer(t, new[]{typeof(Dictionary1)}); var w2 = new StringWriter(); s.Serialize(w2, t==typeof(int)?(object)5:t==typeof(string[])?(object)new[]{"a"}:t==typeof(ArrayList)?(object)new ArrayList{1,"b",new Dictionary1{K="k"}}:new List<Dictionary1>{new Dictionary1{K="z"}}); Console.WriteLine(w2.ToString().Length); } catch (Exception e) { Console.WriteLine(e.Message + e.InnerException); } }
}}
public class Dictionary1 { public string K; }
