//! scratch
mod common;
use common::World;
use vervet_types::*;
#[test]
fn cross() {
    let Ok(text) = std::fs::read_to_string("/tmp/xc/all.txt") else { return };
    let Some(w) = World::new() else { return };
    let mut bad = std::collections::BTreeMap::<&str, Vec<String>>::new();
    let mut n = 0;
    let mut cache = std::collections::HashMap::<String, ClassRef>::new();
    let mut ty = |s: &str| *cache.entry(s.to_string()).or_insert_with(|| w.ty(None, s));
    for line in text.lines() {
        let c: Vec<&str> = line.split('\t').collect();
        let t = ty(c[1]);
        n += 1;
        match c[0] {
            "I" => {
                let i = ty(c[2]);
                let tok = u32::from_str_radix(c[3], 16).unwrap();
                let Some(im) = i.methods().unwrap().iter().find(|m| m.token().0 == tok) else { bad.entry("noim").or_default().push(line.into()); continue };
                match t.find_interface_impl(im) {
                    Ok(Some(m)) => {
                        let want = u32::from_str_radix(c[5], 16).unwrap();
                        if m.token().0 != want || m.class.full_name() != c[4] { bad.entry("impl").or_default().push(format!("{line}\n   got {:?} {m} {}", m.token(), m.class.full_name())); }
                    }
                    Ok(None) => bad.entry("none").or_default().push(line.into()),
                    Err(e) => bad.entry("err").or_default().push(format!("{line} {e}")),
                }
            }
            "F" => {
                let f = t.fields().unwrap().iter().find(|f| f.name == c[2] && format!("{:08x}", f.token().0) == c[3]);
                let Some(f) = f else { bad.entry("nofield").or_default().push(line.into()); continue };
                let want: i64 = c[4].parse().unwrap();
                let got = f.offset().unwrap() as i64;
                if got != want {
                    let kind = match t.flags & 0x18 { 0 => "offset auto", 8 => "offset seq", _ => "offset explicit" };
                    bad.entry(kind).or_default().push(format!("{line} got {got}"));
                }
            }
            "V" => {
                let b = ty(c[2]);
                let tok = u32::from_str_radix(c[3], 16).unwrap();
                let Some(bm) = b.methods().unwrap().iter().find(|m| m.token().0 == tok) else { bad.entry("nobase").or_default().push(line.into()); continue };
                match t.find_virtual_impl(bm) {
                    Ok(m) => {
                        let want = u32::from_str_radix(c[5], 16).unwrap();
                        if m.token().0 != want || m.class.full_name() != c[4] { bad.entry("virt").or_default().push(format!("{line}\n   got {:?} {m} {}", m.token(), m.class.full_name())); }
                    }
                    Err(e) => bad.entry("virterr").or_default().push(format!("{line} {e}")),
                }
            }
            _ => {}
        }
    }
    println!("{n} lines");
    for (k, v) in bad {
        println!("== {k}: {}", v.len());
        for l in v.iter().take(12) { println!("{l}"); }
    }
}
