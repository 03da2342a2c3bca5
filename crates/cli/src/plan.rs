//! What `vervet aot` is asked to compile.
//!
//! # Invariants
//! A plan has at least one assembly. Options end at `--`, and stand among the assemblies before it.
use std::ffi::OsString;
use std::path::PathBuf;
use vervet_runtime::code::cache::setting::Target;

/// What is to be compiled.
pub struct Plan {
    /// Where to.
    pub target: Target,
    /// Only what a profile names.
    pub profile: Option<PathBuf>,
    /// The assemblies.
    pub assemblies: Vec<PathBuf>,
}

impl Plan {
    /// Reads the arguments behind `aot`. `Err` is a sentence for the user.
    pub fn of_arguments(arguments: &[OsString]) -> Result<Plan, String> {
        let usage = || "Usage: vervet aot [--system] [--profile=FILE] assembly...".to_owned();
        let mut plan = Plan {
            target: Target::User,
            profile: None,
            assemblies: Vec::new(),
        };
        let mut are_options = true;
        for argument in arguments {
            let text = argument.to_string_lossy();
            if !are_options || !text.starts_with("--") {
                plan.assemblies.push(argument.into());
            } else if text == "--" {
                are_options = false;
            } else if text == "--system" {
                plan.target = Target::System;
            } else if let Some(file) = text.strip_prefix("--profile=") {
                plan.profile = Some(file.into());
            } else {
                return Err(format!("vervet aot: unknown option '{text}'\n{}", usage()));
            }
        }
        match plan.assemblies.is_empty() {
            true => Err(usage()),
            false => Ok(plan),
        }
    }
    /// `--aot FILE...`, as mono is called in package scripts: what root compiles so is there for everybody.
    pub fn of_mono(assemblies: &[OsString]) -> Plan {
        // SAFETY: it cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        Plan {
            target: if is_root {
                Target::System
            } else {
                Target::User
            },
            profile: None,
            assemblies: assemblies.iter().map(PathBuf::from).collect(),
        }
    }
}
