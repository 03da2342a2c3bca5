//! Target `config`: configuration files of applications, of assemblies and of the machine.
//!
//! Oracles: reading ends, in memory in proportion to the file; what was read is used without a panic.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use std::path::Path;
use vervet_binder::mono_config::Locations;
use vervet_binder::{AppConfig, AssemblyName, DllMap, Redirect};

pub(super) const CONFIG: Target = Target {
    name: "config",
    about: "program.exe.config, dllmaps, machine.config: reading ends",
    run,
    generate,
    corpus: || Corpus::read("config"),
    memory: 4 << 20,
    missing: || None,
};

fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let config = AppConfig::parse(&text);
    let _ = config.supports_this_runtime();
    for redirect in &config.redirects {
        assert!(!redirect.name.is_empty() || text.contains("name"));
        let asked = AssemblyName {
            name: redirect.name.clone(),
            version: Some(redirect.old.0),
            culture: Some(redirect.culture.clone()),
            public_key_token: Some(redirect.public_key_token),
            ..AssemblyName::default()
        };
        if redirect.old.0 <= redirect.old.1 {
            assert!(redirect.applies_to(&asked), "{redirect:?}");
            assert!(Redirect::in_charge(&config.redirects, &asked).is_some());
        }
    }
    let config = Locations::default().parse(&text);
    for library in ["libc", "kernel32.dll", "i:x", "a", ""] {
        let target = DllMap::resolve(&config.dllmap, &DllMap::default(), library, "function");
        let _ = vervet_binder::native::library_candidates(
            &target.library,
            Some(Path::new("/a")),
            Some(Path::new("/usr/bin")),
        );
    }
}

const WORDS: &[&str] = &[
    "<configuration>",
    "</configuration>",
    "<runtime>",
    "</runtime>",
    "<startup>",
    "</startup>",
    "<supportedRuntime version=\"v4.0\"/>",
    "<dependentAssembly>",
    "</dependentAssembly>",
    "<assemblyIdentity name='a' publicKeyToken='b77a5c561934e089'/>",
    "<bindingRedirect oldVersion='0.0.0.0-65535.1.1.1' newVersion='1.2.3.4'/>",
    "<assemblyBinding xmlns='urn:schemas-microsoft-com:asm.v1'>",
    "</assemblyBinding>",
    "<probing privatePath='a;b'/>",
    "<dllmap dll='a' target='b'>",
    "<dllmap dll='i:A' target='$mono_libdir/b' os='!windows,osx' wordsize='64'>",
    "</dllmap>",
    "<dllentry dll='c' name='f' target='g'/>",
    "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>",
    "&a;",
    "&b;",
    "<a>",
    "</a>",
    "<x:y xmlns:x='z'>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "&#x10FFFF;",
    "<?xml version='1.0' encoding='utf-16'?>",
];

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let mut data = if corpus.inputs.is_empty() {
        Vec::new()
    } else {
        random.of(&corpus.inputs).1.clone()
    };
    if random.once_in(20) {
        // Nested and repeated: what is read once for each of its ancestors shows.
        let open = *random.of(&[
            "<dllmap dll='a'>",
            "<dependentAssembly>",
            "<runtime>",
            "<a>",
        ]);
        let item = *random.of(&[WORDS[10], WORDS[17], WORDS[6], WORDS[9]]);
        let (depth, items) = (random.below(1500), random.below(1500));
        let name = open[1..].split([' ', '>']).next().unwrap_or("a");
        return format!(
            "<configuration>{}{}{}</configuration>",
            open.repeat(depth),
            item.repeat(items),
            format!("</{name}>").repeat(depth)
        )
        .into_bytes();
    }
    mutate::text(&mut data, WORDS, random);
    data
}
