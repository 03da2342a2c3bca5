//! `vervet-ilgen`: random programs in IL, what runtimes make of them, and the smallest program that shows a difference.
#![forbid(unsafe_code)]

mod bodies;
mod campaign;
mod emit;
mod expressions;
mod generate;
mod judge;
mod lanes;
mod reduce;
mod rng;
mod signatures;
mod tree;

use clap::{Parser, Subcommand};
use generate::Size;
use std::path::PathBuf;
use std::process::ExitCode;

/// Random programs in IL.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prints the program of a seed
    Print {
        /// Seed
        seed: u64,
        /// Methods
        #[arg(long, default_value_t = 60)]
        methods: usize,
        /// Nodes of a method, about
        #[arg(long, default_value_t = 80)]
        nodes: usize,
    },
    /// Runs programs everywhere and compares
    Run(Campaign),
}

/// What to run, and where.
#[derive(clap::Args, Debug, Clone)]
pub struct Campaign {
    /// First seed; without it, the clock's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Programs
    #[arg(long, default_value_t = 100)]
    pub programs: usize,
    /// Seconds after which no more programs begin
    #[arg(long)]
    pub seconds: Option<u64>,
    /// Programs in an assembly
    #[arg(long, default_value_t = 8)]
    pub batch: usize,
    /// Methods of a program
    #[arg(long, default_value_t = 60)]
    pub methods: usize,
    /// Nodes of a method, about
    #[arg(long, default_value_t = 80)]
    pub nodes: usize,
    /// The runtime to test
    #[arg(long, default_value = "target/ci/vervet")]
    pub vervet: PathBuf,
    /// Mono; a peer
    #[arg(long, default_value = "mono")]
    pub mono: String,
    /// .NET 8; a peer
    #[arg(long, default_value = "dotnet")]
    pub dotnet: String,
    /// Only lanes whose names contain this are tested
    #[arg(long, default_value = "")]
    pub lane: String,
    /// Reduced programs go here
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// How many differences are reduced
    #[arg(long, default_value_t = 5)]
    pub reduce: usize,
    /// How many programs a reduction tries
    #[arg(long, default_value_t = 1500)]
    pub tries: usize,
    /// Says on which results the peers differ
    #[arg(long)]
    pub disputes: bool,
    /// Says after each assembly how many programs are done
    #[arg(long)]
    pub progress: bool,
    /// Takes the peers' differences for findings: to look for operations that are not defined
    #[arg(long)]
    pub between_peers: bool,
}

fn main() -> ExitCode {
    match Options::parse().command {
        Command::Print {
            seed,
            methods,
            nodes,
        } => {
            let program = generate::program(seed, Size { methods, nodes });
            print!("{}", emit::assembly(&[(&program, None)]));
            ExitCode::SUCCESS
        }
        Command::Run(campaign) => match campaign::run(&campaign) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(e) => {
                eprintln!("vervet-ilgen: {e}");
                ExitCode::from(2)
            }
        },
    }
}
