//! `--regression`: calls every static `test_N_name` method of an assembly and compares the result with N.
//!
//! Nothing of the class library need run for it: results come back as machine words.
use crate::cx::{Cx, Value};
use std::path::Path;
use vervet_types::MethodRef;

/// Runs the tests of one assembly and prints what mono prints. Returns (run, failed).
pub fn run(path: &Path) -> (usize, usize) {
    let cx = Cx::current();
    let assembly = match cx.loader().open(path) {
        Ok(a) => a,
        Err(e) => {
            eprintln!("Cannot open assembly '{}': {e}.", path.display());
            return (0, 1);
        }
    };
    println!("Test run: image={}", path.display());
    let (mut run, mut failed, mut passed) = (0, 0, 0);
    for method in tests(assembly.manifest) {
        let expected: i64 = number(method.name).expect("a test has a number");
        run += 1;
        match cx.invoke(method, None, &[]) {
            Ok(Value::Int(got)) if got as i32 as i64 == expected => passed += 1,
            Ok(Value::Int(got)) => {
                failed += 1;
                println!(
                    "Test '{}' failed result (got {}, expected {expected}).",
                    method.name, got as i32
                );
            }
            Ok(other) => {
                failed += 1;
                println!(
                    "Test '{}' failed result (got {other:?}, expected {expected}).",
                    method.name
                );
            }
            Err(throw) => {
                failed += 1;
                let e = cx.take_pending(throw);
                let text = crate::exceptions::unhandled::exception_text(&cx, e);
                println!("Test '{}' failed result (exception {text}).", method.name);
            }
        }
    }
    println!("Results: total tests: {run}, fail: {failed}, pass: {passed}");
    (run, failed)
}

fn number(name: &str) -> Option<i64> {
    let rest = name.strip_prefix("test_")?;
    let digits = rest.split('_').next()?;
    digits.parse().ok()
}

fn tests(module: vervet_types::ModuleRef) -> Vec<MethodRef> {
    let mut out = Vec::new();
    for class in module.types().into_iter().flatten() {
        if class.is_generic_def() {
            continue;
        }
        for m in class.methods().into_iter().flatten() {
            if m.is_static()
                && number(m.name).is_some()
                && m.generic_arity == 0
                && m.sig().is_ok_and(|s| s.params.is_empty())
            {
                out.push(*m);
            }
        }
    }
    out
}
