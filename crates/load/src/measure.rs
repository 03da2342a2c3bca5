//! The loop of one thread: it sends what is due, waits for answers, and notes how late they are.
//!
//! ```text
//!             due                       answer, and the next is due later
//!   waiting ───────> request under way ──────────────────────────────────> waiting
//!                          ^      │
//!                          └──────┘ answer, and the next is due already (always so without a rate)
//! ```
//!
//! A connection sends no request that is due after the measured seconds, so that all of them become idle and the loop ends.
use crate::client::Client;
use crate::{LONGEST_NS, Measured, Options, histogram};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long the answers of the last requests are waited for.
const LAST: Duration = Duration::from_secs(10);

/// What is sent and when; the same for all threads.
pub struct Plan {
    request: Vec<u8>,
    expect: Option<Vec<u8>>,
    /// When the first request is due.
    start: Instant,
    /// The measured seconds: from here ...
    from: Instant,
    /// ... to here.
    to: Instant,
    /// The time between two requests of a connection; nothing if each follows the answer before it.
    interval: Option<Duration>,
    connections: usize,
}

impl Plan {
    /// The plan of a run whose first request is due at `start`.
    pub fn new(options: &Options, start: Instant) -> Self {
        let from = start + Duration::from_secs_f64(options.warm_up);
        Self {
            request: format!(
                "GET {} HTTP/1.1\r\nHost: {}\r\nAccept: text/plain\r\n\r\n",
                options.path, options.server
            )
            .into_bytes(),
            expect: options.expect.clone().map(String::into_bytes),
            start,
            from,
            to: from + Duration::from_secs_f64(options.seconds),
            interval: options
                .rate
                .map(|rate| Duration::from_secs_f64(options.connections as f64 / rate)),
            connections: options.connections,
        }
    }

    /// When the first request of a connection is due: with a rate, the connections take turns.
    fn first(&self, number: usize) -> Instant {
        match self.interval {
            Some(interval) => {
                self.start + interval.mul_f64(number as f64 / self.connections as f64)
            }
            None => self.start,
        }
    }
}

/// Runs the plan over some of its connections, each with its number.
pub fn measure(plan: &Plan, streams: Vec<(usize, TcpStream)>) -> Result<Measured, String> {
    let system = |e: rustix::io::Errno| format!("epoll: {e}");
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system)?;
    let mut clients = Vec::with_capacity(streams.len());
    let mut waiting = BinaryHeap::with_capacity(streams.len());
    for (index, (number, stream)) in streams.into_iter().enumerate() {
        let client = Client::new(number, stream, plan.first(number));
        epoll::add(
            &poll,
            client.stream(),
            epoll::EventData::new_u64(index as u64),
            epoll::EventFlags::IN,
        )
        .map_err(system)?;
        waiting.push(Reverse((client.due, index)));
        clients.push(client);
    }
    let mut measured = Measured {
        times: histogram(),
        answers: 0,
        fewest: 0,
    };
    let mut buffer = vec![0; 64 << 10];
    let mut events = Vec::with_capacity(512);
    let mut under_way = 0;
    loop {
        let mut now = Instant::now();
        while let Some(&Reverse((due, index))) = waiting.peek() {
            if due > now {
                break;
            }
            waiting.pop();
            clients[index].ask(&plan.request)?;
            under_way += 1;
            now = Instant::now();
        }
        let wake = match waiting.peek() {
            Some(&Reverse((due, _))) => due,
            None if under_way == 0 => break,
            None => plan.to + LAST,
        };
        if now > plan.to + LAST {
            return Err(format!(
                "{under_way} requests were not answered within {} seconds",
                LAST.as_secs()
            ));
        }
        let wait =
            Timespec::try_from(wake.saturating_duration_since(now)).expect("a wait of seconds");
        events.clear();
        match epoll::wait(&poll, spare_capacity(&mut events), Some(&wait)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(system(e)),
        }
        for event in &events {
            let index = event.data.u64() as usize;
            let client = &mut clients[index];
            if !client.receive(&mut buffer, plan.expect.as_deref())? {
                continue;
            }
            let now = Instant::now();
            under_way -= 1;
            measured.note(plan, client, now);
            client.due = plan.interval.map_or(now, |interval| client.due + interval);
            if client.due >= plan.to {
                continue;
            }
            if client.due <= now {
                client.ask(&plan.request)?;
                under_way += 1;
            } else {
                waiting.push(Reverse((client.due, index)));
            }
        }
    }
    measured.fewest = clients.iter().map(|c| c.answers).min().unwrap_or(0);
    Ok(measured)
}

impl Measured {
    /// Notes the answer, arrived at `now`, to the client's request.
    fn note(&mut self, plan: &Plan, client: &mut Client, now: Instant) {
        if client.due >= plan.from && client.due < plan.to {
            let time = now.saturating_duration_since(client.due).as_nanos();
            self.times
                .saturating_record(u64::try_from(time).unwrap_or(LONGEST_NS).min(LONGEST_NS));
        }
        if now >= plan.from && now < plan.to {
            self.answers += 1;
            client.answers += 1;
        }
    }
}
