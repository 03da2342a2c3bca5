//! Target `code-file`: files of compiled code, with checksums made right, so that damage reaches what is behind them.
//!
//! Oracles: reading ends; what is found is in the file; an entry is found by its hash or not at all.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use vervet_codecache::file::{self, Entry, View};
use vervet_codecache::memo::Memo;
use vervet_codecache::wire::In;

pub(super) const CODE_FILE: Target = Target {
    name: "code-file",
    about: "files of compiled code: reading ends, what is found is in the file",
    run,
    generate,
    corpus: || Corpus::read("code-file"),
    memory: 16 << 20,
    missing: || None,
};

const KEY: &[u8] = b"key";
const SUBJECT: &[u8] = b"subject";

fn run(data: &[u8]) {
    if let Some(memo) = Memo::decode(data) {
        assert!(memo.find(&[0xEE; 56]).is_none() || data.len() > 88);
    }
    let mut repaired = data.to_vec();
    file::repair(&mut repaired);
    for data in [data, repaired.as_slice()] {
        let Ok(view) = View::open(data, data.len(), KEY, SUBJECT) else {
            continue;
        };
        let sets = 0..view.set_count() as u32;
        assert!(
            sets.clone()
                .all(|n| view.set(n).is_some_and(|s| s.len() <= data.len()))
        );
        for found in view.entries().take(1000) {
            let entry = found.entry();
            assert!(entry.identity().len() + entry.content().len() == entry.payload.len());
            assert!(sets.contains(&entry.set));
            let again = view.find(entry.hash).take(1000);
            assert!(again.count() == 0 || view.has(entry.hash));
            let mut read = In::new(entry.content());
            while read.number().is_ok() {}
            let mut read = In::new(entry.content());
            while read.string().is_ok() && !read.is_at_end() {}
        }
    }
}

fn generate(random: &mut Random, _: &Corpus) -> Vec<u8> {
    let payloads: Vec<Vec<u8>> = (0..random.below(20))
        .map(|_| (0..random.below(60)).map(|_| random.bits() as u8).collect())
        .collect();
    let sets: Vec<Vec<u8>> = (0..1 + random.below(3))
        .map(|n| vec![n as u8; random.below(9)])
        .collect();
    let entries: Vec<Entry<'_>> = payloads
        .iter()
        .map(|payload| Entry {
            hash: random.below(8) as u64,
            set: random.below(sets.len()) as u32,
            cost: 1,
            identity: random.below(payload.len() + 1) as u32,
            payload,
        })
        .collect();
    let mut data = file::assemble(KEY, SUBJECT, &sets, &entries).unwrap_or_default();
    if !random.once_in(8) {
        mutate::bytes(&mut data, random);
    }
    data
}
