//! Closures below a frame of assembly.
//!
//! # Invariants
//! No panic unwinds through a frame of assembly: it is caught below the frame and resumed above it.

/// Has `call` run `work` as a C function with an argument, below a frame of assembly. A panic goes round that frame.
pub(crate) fn through_asm<T>(
    work: impl FnOnce() -> T,
    call: impl FnOnce(extern "C" fn(*mut u8), *mut u8),
) -> T {
    struct Job<F, T> {
        work: Option<F>,
        out: Option<std::thread::Result<T>>,
    }
    extern "C" fn run<F: FnOnce() -> T, T>(p: *mut u8) {
        // SAFETY: `p` is the job of the caller below, which waits for us.
        let job = unsafe { &mut *(p as *mut Job<F, T>) };
        let work = job.work.take().expect("a job runs once");
        job.out = Some(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)));
    }
    fn runner<F: FnOnce() -> T, T>(_: &Job<F, T>) -> extern "C" fn(*mut u8) {
        run::<F, T>
    }
    let mut job = Job {
        work: Some(work),
        out: None,
    };
    call(runner(&job), &raw mut job as *mut u8);
    match job.out.expect("the job ran") {
        Ok(v) => v,
        Err(p) => std::panic::resume_unwind(p),
    }
}
