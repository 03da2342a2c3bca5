//! Native half of System.Threading.WaitHandle, Mutex, NativeEventCalls and Semaphore.
//!
//! Keeps nothing: the objects are those of [`vervet_runtime::threads::wait_handles`].
use crate::support::args::{Chars, Out};
use crate::support::error_numbers;
use vervet_runtime::cx::Cx;
use vervet_runtime::icalls;
use vervet_runtime::threads::wait_handles::{self, Created, Object, OpenError};
use vervet_types::Known;

/// Sets what `Marshal.GetLastWin32Error` returns on this thread.
fn set_last_error(cx: &Cx<'_>, error: i32) {
    // SAFETY: the context belongs to this thread.
    unsafe { (*cx.context()).last_error = error }
}
/// Makes an object and says how it went in the way of `CreateEvent_icall`.
fn create(object: Object, name: &[u16], error: Out<'_, i32>) -> usize {
    match wait_handles::create(object, name) {
        Created::New(h) => {
            error.set(error_numbers::SUCCESS);
            h
        }
        Created::Existing(h) => {
            error.set(error_numbers::ALREADY_EXISTS);
            h
        }
        Created::WrongKind => {
            error.set(error_numbers::INVALID_HANDLE);
            0
        }
    }
}
/// Opens a named object of the kind of `like`; 0 and the error if there is none.
fn open(like: Object, name: &[u16], error: Out<'_, i32>) -> usize {
    match wait_handles::open(&like, name) {
        Ok(h) => {
            error.set(error_numbers::SUCCESS);
            h
        }
        Err(e) => {
            error.set(match e {
                OpenError::NotFound => error_numbers::FILE_NOT_FOUND,
                OpenError::WrongKind => error_numbers::INVALID_HANDLE,
            });
            0
        }
    }
}
/// Signals whatever the handle is; the error code of a wait if that cannot be.
fn signal(cx: &Cx<'_>, handle: usize) -> Option<i32> {
    match wait_handles::inspect(handle) {
        Some(Object::Event { .. }) => {
            (!wait_handles::set_event(handle, true)).then_some(wait_handles::FAILED)
        }
        Some(Object::Semaphore { .. }) => wait_handles::release_semaphore(handle, 1)
            .is_none()
            .then_some(wait_handles::TOO_MANY_POSTS),
        Some(Object::Mutex { .. }) => (!wait_handles::release_mutex(handle, wait_handles::me(cx)))
            .then_some(wait_handles::NOT_OWNER),
        _ => Some(wait_handles::FAILED),
    }
}
/// Stands for the kind when an event is opened.
const EVENT: Object = Object::Event {
    manual: false,
    set: false,
};
/// Stands for the kind when a mutex is opened.
const MUTEX: Object = Object::Mutex {
    owner: 0,
    count: 0,
    abandoned: false,
};
/// Stands for the kind when a semaphore is opened.
const SEMAPHORE: Object = Object::Semaphore { count: 0, max: 0 };

icalls! {
    /// Waits for one or all handles, for at most `ms` milliseconds (-1: for ever): the index of the handle, 0x80 more if its
    /// mutex was abandoned, or 0x102 for a timeout.
    "System.Threading.WaitHandle::Wait_internal" [reentrant] fn wait_internal(cx, handles: *const usize, count: i32, all: bool, ms: i32) -> i32 {
        // SAFETY: managed code passes that many handles; they are copied because waiting may take long.
        let handles = unsafe { std::slice::from_raw_parts(handles, count.max(0) as usize) }.to_vec();
        if all && (1..handles.len()).any(|i| handles[..i].contains(&handles[i])) {
            return Err(cx.throw_default(Known::DuplicateWaitObjectException));
        }
        wait_handles::wait(cx, &handles, all, ms)
    }
    /// Signals one object, then waits for another. The two are not one step.
    "System.Threading.WaitHandle::SignalAndWait_Internal" fn signal_and_wait_internal(cx, to_signal: usize, to_wait: usize, ms: i32) -> i32 {
        match signal(cx, to_signal) {
            Some(code) => Ok(code),
            None => wait_handles::wait(cx, &[to_wait], false, ms),
        }
    }

    /// A handle of a new event, or of the event that has the name; then `error` is ALREADY_EXISTS.
    "System.Threading.NativeEventCalls::CreateEvent_icall" fn create_event(cx, manual: bool, initial: bool, name: Chars<'cx>, length: i32, error: Out<'cx, i32>) -> usize {
        Ok(create(Object::Event { manual, set: initial }, name.take(length), error))
    }
    /// A handle of the event that has the name, or 0 and the error.
    "System.Threading.NativeEventCalls::OpenEvent_icall" fn open_event(cx, name: Chars<'cx>, length: i32, rights: i32, error: Out<'cx, i32>) -> usize {
        Ok(open(EVENT, name.take(length), error))
    }
    /// Signals an event. False if the handle is none.
    "System.Threading.NativeEventCalls::SetEvent_internal" fn set_event(cx, handle: usize) -> bool {
        let ok = wait_handles::set_event(handle, true);
        if !ok {
            set_last_error(cx, error_numbers::INVALID_HANDLE);
        }
        Ok(ok)
    }
    /// Resets an event. False if the handle is none.
    "System.Threading.NativeEventCalls::ResetEvent_internal" fn reset_event(cx, handle: usize) -> bool {
        let ok = wait_handles::set_event(handle, false);
        if !ok {
            set_last_error(cx, error_numbers::INVALID_HANDLE);
        }
        Ok(ok)
    }
    /// Closes any wait handle.
    "System.Threading.NativeEventCalls::CloseEvent_internal" fn close_event(cx, handle: usize) {
        wait_handles::close(handle);
        Ok(())
    }

    /// A handle of a new mutex, or of the mutex that has the name. Only a new one is owned by the caller.
    "System.Threading.Mutex::CreateMutex_icall" fn create_mutex(cx, owned: bool, name: Chars<'cx>, length: i32, created: Out<'cx, u8>) -> usize {
        let owner = if owned { wait_handles::me(cx) } else { 0 };
        let (handle, new) = match wait_handles::create(Object::Mutex { owner, count: owned as u32, abandoned: false }, name.take(length)) {
            Created::New(h) => (h, true),
            Created::Existing(h) => (h, false),
            Created::WrongKind => {
                set_last_error(cx, error_numbers::INVALID_HANDLE);
                (0, false)
            }
        };
        created.set(new as u8);
        Ok(handle)
    }
    /// A handle of the mutex that has the name, or 0 and the error.
    "System.Threading.Mutex::OpenMutex_icall" fn open_mutex(cx, name: Chars<'cx>, length: i32, rights: i32, error: Out<'cx, i32>) -> usize {
        Ok(open(MUTEX, name.take(length), error))
    }
    /// Releases a mutex once. False if the calling thread does not own it.
    "System.Threading.Mutex::ReleaseMutex_internal" fn release_mutex(cx, handle: usize) -> bool { Ok(wait_handles::release_mutex(handle, wait_handles::me(cx))) }

    /// A handle of a new semaphore, or of the semaphore that has the name; then `error` is ALREADY_EXISTS.
    "System.Threading.Semaphore::CreateSemaphore_icall" fn create_semaphore(cx, initial: i32, maximum: i32, name: Chars<'cx>, length: i32, error: Out<'cx, i32>) -> usize {
        Ok(create(Object::Semaphore { count: initial, max: maximum }, name.take(length), error))
    }
    /// A handle of the semaphore that has the name, or 0 and the error.
    "System.Threading.Semaphore::OpenSemaphore_icall" fn open_semaphore(cx, name: Chars<'cx>, length: i32, rights: i32, error: Out<'cx, i32>) -> usize {
        Ok(open(SEMAPHORE, name.take(length), error))
    }
    /// Adds to the count and gives the count before. False if it would exceed the maximum.
    "System.Threading.Semaphore::ReleaseSemaphore_internal" fn release_semaphore(cx, handle: usize, by: i32, previous: Out<'cx, i32>) -> bool {
        match wait_handles::release_semaphore(handle, by) {
            Some(p) => {
                previous.set(p);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
