//! Native half of System.Threading.ThreadPool.
//!
//! Keeps nothing: the pool is the runtime's. There are no threads for input and output; their limits are only kept.
use crate::support::args::Out;
use vervet_runtime::icalls;
use vervet_runtime::threads::pool;
use vervet_types::Known;

icalls! {
    /// The class library does not tell us what each worker does.
    "System.Threading.ThreadPool::InitializeVMTp" fn initialize_vm_tp(cx, tracking: Out<'cx, u8>) {
        pool::initialise();
        tracking.set(0);
        Ok(())
    }
    /// Asks for a worker, because work was queued.
    "System.Threading.ThreadPool::RequestWorkerThread" fn request_worker_thread(cx) -> bool { Ok(pool::request(cx.domain())) }
    /// Counts a completed item. False if the worker is to return to the runtime, because there are too many.
    "System.Threading.ThreadPool::NotifyWorkItemComplete" fn notify_work_item_complete(cx) -> bool { Ok(pool::completed(cx)) }
    /// Says that the calling worker makes progress.
    "System.Threading.ThreadPool::NotifyWorkItemProgressNative" fn notify_work_item_progress_native(cx) {
        pool::progress(cx);
        Ok(())
    }
    /// Nothing counts these.
    "System.Threading.ThreadPool::NotifyWorkItemQueued" fn notify_work_item_queued(cx) { Ok(()) }
    /// Never called: tracking is off.
    "System.Threading.ThreadPool::ReportThreadStatus" fn report_thread_status(cx, working: bool) { Ok(()) }
    /// The numbers of threads below which the pool does not hesitate to start one.
    "System.Threading.ThreadPool::GetMinThreadsNative" fn get_min_threads_native(cx, workers: Out<'cx, i32>, io: Out<'cx, i32>) {
        let limits = pool::limits();
        workers.set(limits.0.min);
        io.set(limits.1.min);
        Ok(())
    }
    /// The largest numbers of threads.
    "System.Threading.ThreadPool::GetMaxThreadsNative" fn get_max_threads_native(cx, workers: Out<'cx, i32>, io: Out<'cx, i32>) {
        let limits = pool::limits();
        workers.set(limits.0.max);
        io.set(limits.1.max);
        Ok(())
    }
    /// How many more threads could work.
    "System.Threading.ThreadPool::GetAvailableThreadsNative" fn get_available_threads_native(cx, workers: Out<'cx, i32>, io: Out<'cx, i32>) {
        let available = pool::available();
        workers.set(available.0);
        io.set(available.1);
        Ok(())
    }
    /// Sets the minimums. False if they do not fit the maximums.
    "System.Threading.ThreadPool::SetMinThreadsNative" fn set_min_threads_native(cx, workers: i32, io: i32) -> bool { Ok(pool::set_min(workers, io)) }
    /// Sets the maximums. False if they do not fit the minimums.
    "System.Threading.ThreadPool::SetMaxThreadsNative" fn set_max_threads_native(cx, workers: i32, io: i32) -> bool { Ok(pool::set_max(workers, io)) }
    /// There are no completion ports.
    "System.Threading.ThreadPool::PostQueuedCompletionStatus" fn post_queued_completion_status(cx, overlapped: usize) -> bool {
        Err(cx.throw_default(Known::NotImplementedException))
    }
}
