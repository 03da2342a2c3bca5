// XSLT and regular expressions, compiled to IL.
// mcs: -r:System.Xml -r:System
using System; using System.IO; using System.Xml; using System.Xml.Xsl; using System.Text.RegularExpressions;
class X { static void Main() {
 var xsl = new XslCompiledTransform();
 xsl.Load(XmlReader.Create(new StringReader(@"<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:param name='p' select='9'/><xsl:template match='/'><out p='{$p}'><xsl:for-each select='//i'><xsl:sort select='@n' data-type='number'/><v n='{@n}'><xsl:value-of select='concat(., position())'/></v></xsl:for-each><xsl:call-template name='t'><xsl:with-param name='x' select='count(//i)'/></xsl:call-template></out></xsl:template><xsl:template name='t'><xsl:param name='x'/><xsl:choose><xsl:when test='$x &gt; 2'>many</xsl:when><xsl:otherwise>few</xsl:otherwise></xsl:choose></xsl:template></xsl:stylesheet>")));
 var sw = new StringWriter();
 xsl.Transform(XmlReader.Create(new StringReader("<r><i n='3'>c</i><i n='1'>a</i><i n='2'>b</i></r>")), null, sw);
 Console.WriteLine(sw);
 var r = new Regex(@"(\w+)@(\w+)\.com", RegexOptions.Compiled | RegexOptions.IgnoreCase);
 foreach (Match m in r.Matches("joe@example.com, Ann@Test.COM")) Console.WriteLine(m.Groups[1].Value + " at " + m.Groups[2].Value);
 Console.WriteLine(Regex.Replace("aXbX", "x", m => "[" + m.Index + "]", RegexOptions.Compiled|RegexOptions.IgnoreCase));
}}
