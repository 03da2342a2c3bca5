//! Field offsets, sizes, virtual methods and interface maps, compared with what mono's reflection says of the same
//! assemblies. Skipped where mono or mcs is not installed.
mod common;
use common::World;
use std::collections::HashMap;
use std::process::Command;
use vervet_types::*;

/// Prints a line per field (F), size (S), virtual method (V) and interface method (I) of the types of assemblies.
const DUMP: &str = r#"
using System; using System.Linq; using System.Reflection; using System.Collections.Generic;
class Dump {
  const BindingFlags Own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
  static MethodInfo offset = typeof(FieldInfo).GetMethod("GetFieldOffset", Own);
  static MethodInfo size = typeof(object).Assembly.GetType("System.Runtime.CompilerServices.Unsafe").GetMethods(Own | BindingFlags.Static).Single(m => m.Name == "SizeOf");
  static void One(Type t) {
    if (t.IsInterface || t.ContainsGenericParameters) return;
    var name = t.AssemblyQualifiedName;
    if (t.IsValueType && t != typeof(void) && t.Name != "ArgIterator" && t.Name != "TypedReference" && t.Name != "RuntimeArgumentHandle"
        && !t.CustomAttributes.Any(a => a.AttributeType.Name == "IsByRefLikeAttribute"))
      try { Console.WriteLine("S\t{0}\t{1}", name, size.MakeGenericMethod(t).Invoke(null, null)); } catch (Exception) {}
    foreach (var i in t.GetInterfaces()) {
      var map = t.GetInterfaceMap(i);
      for (int k = 0; k < map.InterfaceMethods.Length; k++) {
        var (im, tm) = (map.InterfaceMethods[k], map.TargetMethods[k]);
        if (tm != null) Console.WriteLine("I\t{0}\t{1}\t{2:x8}\t{3}\t{4:x8}", name, i.AssemblyQualifiedName, im.MetadataToken, tm.DeclaringType, tm.MetadataToken);
      }
    }
    if (t.IsEnum || t.IsPrimitive) return;
    foreach (var f in t.GetFields(Own | BindingFlags.DeclaredOnly))
      Console.WriteLine("F\t{0}\t{1:x8}\t{2}", name, f.MetadataToken, offset.Invoke(f, null));
    foreach (var m in t.GetMethods(Own).Where(m => m.IsVirtual)) {
      var b = m.GetBaseDefinition();
      Console.WriteLine("V\t{0}\t{1}\t{2:x8}\t{3}\t{4:x8}", name, b.DeclaringType.AssemblyQualifiedName, b.MetadataToken, m.DeclaringType, m.MetadataToken);
    }
  }
  static void Main(string[] args) {
    // Of these mono aborts when it is asked for some interface maps.
    var skip = new[] { "System.Type", "System.Reflection.TypeInfo", "System.Reflection.MethodInfo" };
    foreach (var a in args) foreach (var t in Assembly.Load(a).GetTypes()) if (!skip.Contains(t.FullName)) One(t);
    foreach (var t in new[] {
      typeof(List<int>), typeof(List<string>), typeof(Dictionary<string, int>), typeof(Dictionary<int, List<string>>),
      typeof(HashSet<DayOfWeek>), typeof(KeyValuePair<byte, string>), typeof(SortedDictionary<string, object>),
      typeof(System.Collections.ObjectModel.ReadOnlyCollection<int>), typeof(Tuple<int, string, byte>),
      typeof(ValueTuple<int, string, byte, long>), typeof(int?), typeof(Guid?), typeof(Comparer<int>),
      typeof(System.Collections.Concurrent.ConcurrentDictionary<string, int>), typeof(LinkedList<int>),
      typeof(Queue<Guid>), typeof(EqualityComparer<string>), typeof(System.Threading.Tasks.Task<int>) }) One(t);
  }
}
"#;

fn dump() -> Option<String> {
    let dir = tempfile::tempdir().expect("temporary directory");
    let (source, exe) = (dir.path().join("dump.cs"), dir.path().join("dump.exe"));
    std::fs::write(&source, DUMP).expect("source written");
    let out = format!("-out:{}", exe.display());
    let mcs = Command::new("mcs")
        .args(["-langversion:latest", "-nowarn:618", &out])
        .arg(&source)
        .output()
        .ok()?;
    assert!(
        mcs.status.success(),
        "{}",
        String::from_utf8_lossy(&mcs.stderr)
    );
    let core = "System.Core, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
    let run = Command::new("mono")
        .arg(&exe)
        .args(["mscorlib", core])
        .output()
        .ok()?;
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    String::from_utf8(run.stdout).ok()
}

#[test]
fn layouts_and_virtual_methods_are_monos() {
    let Some(w) = World::new() else { return };
    let Some(text) = dump() else {
        eprintln!("skipped: no mono or no mcs is installed");
        return;
    };
    let mut types = HashMap::<&str, ClassRef>::new();
    let mut differ = Vec::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let mut ty = |i: usize| {
            *types
                .entry(cells[i])
                .or_insert_with(|| w.ty(None, cells[i]))
        };
        let token = |i: usize| u32::from_str_radix(cells[i], 16).expect("a token");
        let class = ty(1);
        let same = match cells[0] {
            "S" => class.layout().unwrap().size.to_string() == cells[2],
            "F" => {
                let field = class
                    .fields()
                    .unwrap()
                    .iter()
                    .find(|f| f.token().0 == token(2))
                    .expect("the field");
                // The class laid over arrays follows our arrays, not mono's; our delegates, and what a thread has, are shorter.
                let ours = ["RawData", "Delegate", "MulticastDelegate", "InternalThread"];
                field.offset().unwrap().to_string() == cells[3] || ours.contains(&class.name)
            }
            kind => {
                let method = ty(2)
                    .methods()
                    .unwrap()
                    .iter()
                    .find(|m| m.token().0 == token(3))
                    .expect("the method");
                let found = match kind {
                    "I" => class
                        .find_interface_impl(method)
                        .unwrap()
                        .expect("an implementation"),
                    _ => class.find_virtual_impl(method).unwrap(),
                };
                found.token().0 == token(5) && found.class.full_name() == cells[4]
            }
        };
        if !same {
            differ.push(line);
        }
    }
    assert!(
        differ.is_empty(),
        "{} differences:\n{}",
        differ.len(),
        differ[..differ.len().min(20)].join("\n")
    );
}
