//! Native half of System.Net.Sockets.Socket: Poll and Select.
//!
//! Keeps nothing.
use crate::support::args::Out;
use crate::system::net::socket_address::Field;
use crate::system::net::sockets::winsock::{self, report};
use std::mem::offset_of;
use std::time::{Duration, Instant};
use vervet_abi::layouts::SafeHandleObject;
use vervet_runtime::code::icall::RefSlot;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads::park::wait_set;
use vervet_runtime::{ObjRef, icalls};

const ERRORS: i16 = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;

/// What a descriptor is asked for; SelectMode is Read 0, Write 1, Error 2.
fn record(fd: i32, mode: usize) -> libc::pollfd {
    let events = match mode {
        0 => libc::POLLIN,
        1 => libc::POLLOUT,
        _ => ERRORS,
    };
    libc::pollfd {
        fd,
        events,
        revents: 0,
    }
}

/// Waits so many microseconds (for ever if negative) until one of them is ready; how many are.
fn wait(
    cx: &Cx<'_>,
    records: &mut [libc::pollfd],
    microseconds: i32,
) -> Result<std::result::Result<usize, i32>> {
    let time = u64::try_from(microseconds).ok().map(Duration::from_micros);
    wait_set::poll(cx, records, time.map(|t| Instant::now() + t))
}

static HANDLE: Field = Field::new("m_Handle");

/// A Socket's descriptor; -1 if it has none.
fn descriptor<'cx>(cx: &'cx Cx<'cx>, socket: ObjRef<'cx>) -> Result<i32> {
    let safe = socket.read_ref(HANDLE.of(cx, socket.class())?);
    Ok(safe.non_null().map_or(-1, |s| {
        s.read::<usize>(offset_of!(SafeHandleObject, handle)) as i32
    }))
}

icalls! {
    /// Waits until a socket is ready, for at most so many microseconds (-1: for ever). True if it is.
    "System.Net.Sockets.Socket::Poll_internal" [reentrant] fn poll(cx, fd: isize, mode: i32, microseconds: i32, error: Out<'cx, i32>) -> bool {
        let mut one = [record(fd as i32, mode as usize)];
        let result = wait(cx, &mut one, microseconds)?;
        Ok(report(cx, result, error).is_some_and(|n| n > 0))
    }
    /// The array holds three lists, each with a null behind it: to read, to write, with errors. It is replaced by one of the
    /// same form with those that are ready, or by null.
    "System.Net.Sockets.Socket::Select_internal" [reentrant] fn select(cx, sockets: RefSlot<'cx>, microseconds: i32, error: Out<'cx, i32>) {
        let all = cx.non_null(sockets.get())?;
        let mut records = Vec::new();
        let mut mode = 0;
        for i in 0..all.array_len() {
            match all.element_ref(i).non_null() {
                None => mode += 1,
                Some(socket) => records.push(record(descriptor(cx, socket)?, mode)),
            }
        }
        if mode != 3 {
            error.set(winsock::FAULT);
            return Ok(());
        }
        let result = wait(cx, &mut records, microseconds)?;
        let Some(ready) = report(cx, result, error) else { return Ok(()) };
        if ready == 0 {
            sockets.set(ObjRef::NULL);
            return Ok(());
        }
        let element = cx.non_null(all)?.class().element().expect("an array of sockets");
        let found = cx.alloc_array(element, ready + 3)?;
        let (mut at, mut next) = (0, 0);
        for i in 0..all.array_len() {
            match all.element_ref(i).non_null() {
                None => at += 1,
                Some(socket) => {
                    if records[next].revents != 0 {
                        found.set_element_ref(at, socket);
                        at += 1;
                    }
                    next += 1;
                }
            }
        }
        sockets.set(found);
        Ok(())
    }
}
