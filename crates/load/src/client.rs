//! One connection: it sends a request, and takes the answer in the pieces in which it arrives.
//!
//! # Invariant
//! At most one request is under way. So the socket's buffer is empty when a request is sent, and takes all of it.
use crate::Options;
use crate::response;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A connection to the server.
pub struct Client {
    /// Its number, for messages.
    number: usize,
    stream: TcpStream,
    /// The beginning of an answer of which not all has arrived. Mostly empty.
    partial: Vec<u8>,
    /// When the request that is under way was due; or, if none is, when the next one is.
    pub due: Instant,
    /// Answers within the measured seconds.
    pub answers: u64,
}

/// Opens all connections, one after the other, so that they do not overrun the server's queue of them. Waits for a server that does
/// not listen yet.
pub fn connect_all(options: &Options) -> Result<Vec<TcpStream>, String> {
    let patience = Instant::now() + Duration::from_secs_f64(options.patience);
    let mut streams = Vec::with_capacity(options.connections);
    while streams.len() < options.connections {
        match TcpStream::connect_timeout(&options.server, Duration::from_secs(10)) {
            Ok(stream) => {
                let ready = stream
                    .set_nodelay(true)
                    .and_then(|()| stream.set_nonblocking(true));
                ready.map_err(|e| format!("a new connection cannot be set up: {e}"))?;
                streams.push(stream);
            }
            Err(e)
                if e.kind() == ErrorKind::ConnectionRefused
                    && streams.is_empty()
                    && Instant::now() < patience =>
            {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(e) => {
                let hint = match e.kind() {
                    ErrorKind::AddrNotAvailable => {
                        " (all local ports are in use: wait a minute, or ask for fewer connections)"
                    }
                    ErrorKind::TimedOut => " (the server does not accept connections)",
                    ErrorKind::ConnectionRefused => " (nobody listens there)",
                    _ => "",
                };
                return Err(format!(
                    "connection {} to {}: {e}{hint}",
                    streams.len() + 1,
                    options.server
                ));
            }
        }
    }
    Ok(streams)
}

impl Client {
    /// A connection without a request under way.
    pub fn new(number: usize, stream: TcpStream, due: Instant) -> Self {
        Self {
            number,
            stream,
            partial: Vec::new(),
            due,
            answers: 0,
        }
    }

    /// The socket.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a request, all of it.
    pub fn ask(&mut self, request: &[u8]) -> Result<(), String> {
        match self.stream.write(request) {
            Ok(sent) if sent == request.len() => Ok(()),
            Ok(sent) => Err(self.error(&format!(
                "sent {sent} of {} bytes of a request",
                request.len()
            ))),
            Err(e) => Err(self.error(&e.to_string())),
        }
    }

    /// Receives what has arrived, through `buffer`. True if that completes the answer.
    pub fn receive(&mut self, buffer: &mut [u8], expect: Option<&[u8]>) -> Result<bool, String> {
        let received = match self.stream.read(buffer) {
            Ok(0) => return Err(self.error("the server ended the connection")),
            Ok(received) => received,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Ok(false);
            }
            Err(e) => return Err(self.error(&e.to_string())),
        };
        // Nearly every answer arrives in one piece, and is parsed where it is.
        let arrived = if self.partial.is_empty() {
            &buffer[..received]
        } else {
            self.partial.extend_from_slice(&buffer[..received]);
            &self.partial
        };
        match response::parse(arrived, expect) {
            Ok(Some(length)) if length == arrived.len() => {
                self.partial.clear();
                Ok(true)
            }
            Ok(Some(length)) => Err(self.error(&format!(
                "{} bytes follow the answer",
                arrived.len() - length
            ))),
            Ok(None) => {
                if self.partial.is_empty() {
                    self.partial.extend_from_slice(&buffer[..received]);
                }
                Ok(false)
            }
            Err(wrong) => Err(self.error(&wrong)),
        }
    }

    fn error(&self, what: &str) -> String {
        format!("connection {}: {what}", self.number + 1)
    }
}
