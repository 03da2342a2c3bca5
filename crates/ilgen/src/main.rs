//! `vervet-ilgen`: random programs in IL, and what runtimes make of them.
#![forbid(unsafe_code)]

mod bodies;
mod emit;
mod expressions;
mod generate;
mod rng;
mod signatures;
mod tree;

fn main() {
    let seed: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let n: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let size = generate::Size { methods: 60, nodes: 90 };
    let all: Vec<_> = (0..n as u64).map(|i| generate::program(seed + i, size)).collect();
    let refs: Vec<_> = all.iter().map(|p| (p, None)).collect();
    print!("{}", emit::assembly(&refs));
}
