//! Prints the events of the service, one a line: the name of the event, and its JSON. Needs only the standard library.
//!
//!     rustc stream.rs && ./stream [SOCKET]
use std::io::{BufRead, BufReader, Error, Write};
use std::os::unix::net::UnixStream;

fn main() -> Result<(), Error> {
    let path = std::env::args().nth(1).unwrap_or("/run/reachability/reachability.sock".to_string());
    let mut socket = UnixStream::connect(path)?;
    // With HTTP/1.0, the body is not divided into chunks.
    socket.write_all(b"GET /v1/stream HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    let mut lines = BufReader::new(socket).lines();
    let status = lines.next().ok_or(Error::other("the service sent no answer"))??;
    if !status.contains(" 200 ") {
        return Err(Error::other(status));
    }
    let mut name = String::new();
    for line in lines {
        let line = line?;
        if let Some(event) = line.strip_prefix("event: ") {
            name = event.to_string();
        } else if let Some(data) = line.strip_prefix("data: ") {
            println!("{name} {data}");
        }
    }
    Ok(())
}
