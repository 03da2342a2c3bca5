//! Seeded mutations of an image: whatever the bytes, loading its types ends and answers.
mod common;
use common::World;
use vervet_metadata::{Instructions, Operand, Table};
use vervet_types::*;

/// xorshift64*: the same mutations in every run.
struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Asks every level of everything and ignores the answers.
fn walk(module: ModuleRef) {
    for rid in 1..=module.image.row_count(Table::TypeDef) {
        let Ok(class) = module.type_def(rid) else {
            continue;
        };
        let _ = (
            class.full_name(),
            class.supers(),
            class.interfaces(),
            class.layout(),
            class.vtable(),
        );
        let _ = (
            class.properties(),
            class.events(),
            class.nested_types(),
            class.finalizer(),
            class.params(),
        );
        for f in class.fields().unwrap_or_default() {
            let _ = (f.ty(), f.offset(), f.is_volatile());
            let _ = f.has_rva().then(|| f.rva_data());
        }
        for i in class.interfaces().unwrap_or_default() {
            for m in i.methods().unwrap_or_default() {
                let _ = class.find_interface_impl(m);
            }
        }
        for m in class.methods().unwrap_or_default() {
            let _ = (
                m.sig(),
                m.slot(),
                m.trace_name(),
                m.dll_import(),
                m.generic_params(),
            );
            let Some(body) = m.has_body().then(|| m.body().ok()).flatten() else {
                continue;
            };
            let scope = m.scope();
            let _ = scope.locals(body.local_sig);
            for instr in Instructions::new(body.code).map_while(Result::ok) {
                if let Operand::Token(token) = instr.operand {
                    let _ = (
                        scope.token(token),
                        scope.call_site_sig(token),
                        scope.stand_alone_sig(token),
                    );
                    if let Ok(TokenTarget::Type(c)) = scope.token(token) {
                        let _ = (c.layout(), c.interfaces(), c.vtable());
                    }
                }
            }
        }
    }
}

#[test]
fn mutated_images_are_answered() {
    let Some(w) = World::new() else { return };
    let mut random = Random(0x5EED);
    let rounds = std::env::var("VERVET_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(200);
    for name in ["Mono.Posix", "cert-sync", "System.Numerics"] {
        let base = w.load(name);
        // Mutations go where the names, rows and signatures are: the second half of these files.
        let data = base.image.data();
        let heaps = data
            .windows(4)
            .position(|b| b == b"BSJB")
            .expect("metadata");
        for _ in 0..rounds {
            let mut copy = data.to_vec();
            for _ in 0..1 + random.below(8) {
                let at = heaps + random.below(copy.len() - heaps);
                copy[at] = if random.below(2) == 0 {
                    random.next() as u8
                } else {
                    copy[at] ^ 1 << random.below(8)
                };
            }
            if let Ok(module) = w.u.load_module(copy.leak(), None) {
                walk(module);
            }
        }
    }
}
