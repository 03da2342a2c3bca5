//! Target `system`: what the kernel and managed code hand to the native half of the class library as bytes.
//!
//! The first byte chooses: /proc/PID/stat, status, maps, mounts, socket addresses, command lines, UTF-16. Oracles: no panic; a
//! part of the input is found whatever bytes are beside it; an address survives the way to the kernel's form and back.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use vervet_icalls::support::text;
use vervet_icalls::system::diagnostics::process_start::{mapped_files, split};
use vervet_icalls::system::io::drive_info::mounts_in;
use vervet_icalls::system::net::socket_address::{from_host, to_host};
use vervet_runtime::threads::wait_handles::proc_files::{Stat, boot_time, status_value};

pub(super) const SYSTEM: Target = Target {
    name: "system",
    about: "/proc, mounts, socket addresses, command lines, UTF-16: no panic, addresses survive",
    run,
    generate,
    corpus: || Corpus::read("system"),
    memory: 1 << 18,
    missing: || None,
};

fn run(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else {
        return;
    };
    match kind % 8 {
        0 => {
            if let Some(stat) = Stat::parse(data) {
                assert!(stat.name.len() <= 3 * data.len());
                let _ = (
                    stat.user_ticks(),
                    stat.system_ticks(),
                    stat.start_filetime(),
                );
            }
            // Any bytes may be a process's name.
            let whole = [b"7 (", data, b") R 1 2 3 4 5 6 7 8 9 10 200 300\n"].concat();
            let stat = Stat::parse(&whole).expect("a line with a name and fields");
            assert_eq!(stat.name, String::from_utf8_lossy(data));
            assert_eq!(stat.user_ticks() * 3, stat.system_ticks() * 2);
        }
        1 => {
            let _ = (boot_time(data), status_value(data, "VmRSS"));
            if !data.contains(&b'\n') {
                let whole = [b"Name:\t", data, b"\nVmRSS:\t    77 kB\n"].concat();
                assert_eq!(status_value(&whole, "VmRSS"), 77 * 1024);
            }
        }
        2 => {
            let text = String::from_utf8_lossy(data);
            for (i, (_, _, file)) in mapped_files(&text).iter().enumerate() {
                assert!(file.starts_with('/'), "{i}");
            }
        }
        3 => {
            let whole = [data, b"\nproc /proc proc rw 0 0\n"].concat();
            assert!(mounts_in(&whole).iter().any(|m| m.point == "/proc"));
        }
        4 => {
            if let Ok(host) = to_host(data)
                && let Some(managed) = from_host(&host)
                && let Ok(again) = to_host(&managed)
            {
                // A path grows by two bytes each time, as in mono, until it is too long.
                let both = (from_host(&host), from_host(&again));
                assert!(data[0] == 1 || both.0 == both.1, "{both:?}");
            }
        }
        5 => {
            let text = String::from_utf8_lossy(data);
            if let Ok(words) = split(&text) {
                let line: Vec<String> = words
                    .iter()
                    .map(|w| format!("'{}'", w.replace('\'', "'\\''")))
                    .collect();
                assert_eq!(split(&line.join(" ")), Ok(words));
            }
        }
        _ => {
            let units: Vec<u16> = data
                .chunks_exact(2)
                .map(|b| u16::from_le_bytes([b[0], b[1]]))
                .collect();
            let path = text::path(&units);
            assert!(text::text(&units).as_bytes().starts_with(path.as_bytes()));
        }
    }
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    const WORDS: &[&str] = &[
        "(",
        ")",
        ") (",
        " ",
        "\n",
        "\t",
        ":",
        "VmRSS:",
        "kB",
        "btime ",
        "/",
        "\\040",
        "\\777",
        "9223372036854775807",
        "-1",
        "00400000-00452000 r-xp 0 08:02 173521 /usr/bin/x",
        "'",
        "\"",
        "\\",
        "a b",
        "proc",
    ];
    let mut data = if corpus.inputs.is_empty() || random.once_in(3) {
        vec![random.below(8) as u8]
    } else {
        random.of(&corpus.inputs).1.clone()
    };
    let kind = data.first().copied().unwrap_or(0);
    match kind % 8 {
        4 => {
            data = vec![4, *random.of(&[1, 2, 23, 0, 99]), 0];
            data.extend((0..random.below(140)).map(|_| random.number() as u8));
        }
        _ => mutate::text(&mut data, WORDS, random),
    }
    if data.is_empty() || random.once_in(2) {
        data.insert(0, kind);
    }
    data
}
