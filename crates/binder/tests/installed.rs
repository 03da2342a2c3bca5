//! The binder against the class libraries of the machine; without them there is nothing to check.

use std::path::Path;
use vervet_binder::mono_config::Locations;
use vervet_binder::{AssemblyName, Binder, DllMap, Origin};

/// Debian's places, whatever the environment says; `None` when the class libraries are not installed.
fn installed() -> Option<Binder> {
    let binder = Binder::default();
    binder.corlib().is_ok().then_some(binder)
}

/// Finds by file name alone, as a runtime that does not compare strong names would.
fn find(binder: &Binder, display_name: &str) -> Option<(String, Origin)> {
    let wanted = AssemblyName::parse(display_name).unwrap();
    let name = binder.effective_name(&wanted, |_| Vec::new());
    let found = binder.find(&name, None, |_| Some(name.clone().into_owned()))?;
    Some((found.path.display().to_string(), found.origin))
}

#[test]
fn the_framework_is_found_in_the_gac_and_among_the_facades() {
    let Some(binder) = installed() else { return };
    let token = "Culture=neutral, PublicKeyToken=b77a5c561934e089";
    assert_eq!(
        find(&binder, &format!("System, Version=2.0.0.0, {token}")),
        Some((
            "/usr/lib/mono/gac/System/4.0.0.0__b77a5c561934e089/System.dll".into(),
            Origin::Gac
        ))
    );
    assert_eq!(
        find(&binder, "mscorlib").unwrap(),
        ("/usr/lib/mono/4.5/mscorlib.dll".into(), Origin::Corlib)
    );
    if Path::new("/usr/lib/mono/4.5/Facades/System.Runtime.dll").exists() {
        let facade =
            "System.Runtime, Version=4.1.2.0, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a";
        assert_eq!(find(&binder, facade).unwrap().1, Origin::Facades);
    }
    assert_eq!(
        find(
            &binder,
            &format!("No.Such.Assembly, Version=1.0.0.0, {token}")
        ),
        None
    );
}

#[test]
fn a_partial_name_is_completed_from_the_gac() {
    let Some(binder) = installed() else { return };
    let found = binder.partial_name_candidates(&AssemblyName::simple("System"));
    assert!(
        found[0]
            .path
            .ends_with("System/4.0.0.0__b77a5c561934e089/System.dll")
    );
}

#[test]
fn the_machine_s_dllmap_leads_to_installed_libraries() {
    if !Path::new("/etc/mono/config").exists() {
        return;
    }
    let (config, errors) = Locations::default().read_global();
    assert!(errors.is_empty(), "{errors:?}");
    let resolve = |library, function| {
        let target = DllMap::resolve(&DllMap::default(), &config.dllmap, library, function);
        (target.library, target.function)
    };
    assert_eq!(
        resolve("libc", "getpid"),
        ("libc.so.6".into(), "getpid".into())
    );
    assert_eq!(
        resolve("System.Native", "f").0,
        "/usr/lib/libmono-native.so"
    );
    assert_eq!(
        resolve("KERNEL32.DLL", "CopyMemory"),
        ("__Internal".into(), "mono_win32_compat_CopyMemory".into())
    );
    assert_eq!(resolve("nosuchlib", "f").0, "nosuchlib");
}
