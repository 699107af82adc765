//! Listening sockets: those that are handed over, and new ones.
//!
//! A socket that systemd holds (`forebayd.socket`), or a process before this one, outlives both: who connects while one
//! process ends and the next begins waits in its queue, and is refused by nobody.
use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait in the kernel.
const BACKLOG: u32 = 1_024;

/// Sockets that were handed over and are not in use yet.
#[derive(Debug, Default)]
pub struct Handed(Vec<(SocketAddr, std::net::TcpListener)>);

/// A listening socket, not yet accepting.
#[derive(Debug)]
pub struct Socket {
    /// The socket.
    pub listener: TcpListener,
    /// Somebody else holds it too: it goes on when this process closes it.
    pub handed: bool,
}

impl Handed {
    /// Sockets that the environment tells of: `LISTEN_FDS` and `LISTEN_PID`, as systemd sets them.
    ///
    /// # Errors
    /// A file descriptor that is no TCP socket.
    pub fn from_environment() -> Result<Self, String> {
        let mut fds = listenfd::ListenFd::from_env();
        let mut sockets = Vec::new();
        for i in 0..fds.len() {
            let remedy = "hand over TCP sockets alone, ListenStream=ADDRESS:PORT";
            let fail = |e: io::Error| format!("socket {} of LISTEN_FDS: {e}; {remedy}", i + 1);
            if let Some(socket) = fds.take_tcp_listener(i).map_err(fail)? {
                socket.set_nonblocking(true).map_err(fail)?;
                sockets.push((socket.local_addr().map_err(fail)?, socket));
            }
        }
        Ok(Handed(sockets))
    }

    /// The socket for an address: the one that was handed over, or a new one.
    ///
    /// # Errors
    /// What the system says.
    pub fn socket(&mut self, address: SocketAddr) -> io::Result<Socket> {
        match self.0.iter().position(|(of, _)| is_for(*of, address)) {
            Some(i) => Ok(Socket { listener: TcpListener::from_std(self.0.swap_remove(i).1)?, handed: true }),
            None => Ok(Socket { listener: bind(address)?, handed: false }),
        }
    }

    /// Is each of them for an address of its own among these?
    ///
    /// # Errors
    /// One that is not: who connects to it would wait for ever.
    pub fn check(&self, addresses: impl IntoIterator<Item = SocketAddr>) -> Result<(), String> {
        let mut free: Vec<SocketAddr> = addresses.into_iter().collect();
        for (of, _) in &self.0 {
            match free.iter().position(|address| is_for(*of, *address)) {
                Some(i) => drop(free.swap_remove(i)),
                None => {
                    return Err(format!(
                        "a socket for {of} is handed over, and no [[listen]] and no [admin] has this address for it; \
                         make ListenStream= of forebayd.socket and the configuration agree"
                    ))
                }
            }
        }
        Ok(())
    }
}

/// Is a socket bound to `of` the one for `address`? That of all addresses of IPv6 serves those of IPv4 too.
fn is_for(of: SocketAddr, address: SocketAddr) -> bool {
    let any = of.ip() == Ipv6Addr::UNSPECIFIED && address.ip().is_unspecified();
    of.port() == address.port() && (of.ip() == address.ip() || any)
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_for_its_address() {
        for (of, address, expected) in [
            ("127.0.0.1:80", "127.0.0.1:80", true),
            ("127.0.0.1:80", "127.0.0.1:81", false),
            ("127.0.0.1:80", "127.0.0.2:80", false),
            ("127.0.0.1:80", "0.0.0.0:80", false),
            ("0.0.0.0:80", "127.0.0.1:80", false),
            ("[::]:80", "0.0.0.0:80", true),
            ("[::]:80", "[::]:80", true),
            ("[::]:80", "[::1]:80", false),
        ] {
            let parsed = of.parse().ok().zip(address.parse().ok());
            assert_eq!(parsed.map(|(of, address)| is_for(of, address)), Some(expected), "{of} {address}");
        }
    }
}
