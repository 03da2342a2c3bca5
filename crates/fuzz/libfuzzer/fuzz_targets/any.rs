//! The target that `TARGET` names.
#![no_main]
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use vervet_fuzz::target::Target;
use vervet_fuzz::targets::ALL;

static CHOSEN: OnceLock<&Target> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    let target = CHOSEN.get_or_init(|| {
        let name = std::env::var("TARGET").expect("TARGET names a target");
        let found = ALL.iter().find(|t| t.name == name);
        found.unwrap_or_else(|| panic!("there is no target {name}"))
    });
    (target.run)(data);
});
