//! Native half of Vervet.GreenScheduler, the task scheduler of `Task.RunAsGreenThread`.
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_runtime::threads::green;

icalls! {
    /// Starts a green thread that calls `scheduler.Run(task)`.
    "Vervet.GreenScheduler::Queue" fn queue(cx, scheduler: ObjRef<'cx>, task: ObjRef<'cx>) { green::spawn(cx, scheduler, task) }
}
