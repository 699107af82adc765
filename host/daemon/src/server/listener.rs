//! Listeners: accept, count, hand over; close without losing who has already connected.
use super::{connection, Handed, Socket};
use crate::app::App;
use crate::config::{Limits, Listen, TlsFiles};
use crate::log;
use rustls::ServerConfig;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Connections over the limit that are told so at once; more are closed without a word.
const TURNED_AWAY_MAX: u64 = 256;
/// After an error of accept, such as no file descriptor left.
const PAUSE: Duration = Duration::from_millis(50);

/// The certificate in use; a reload puts another one here.
#[derive(Debug)]
pub struct TlsSlot {
    /// Where it came from.
    pub files: TlsFiles,
    config: RwLock<Arc<ServerConfig>>,
}

impl TlsSlot {
    fn new(files: TlsFiles) -> Result<Self, String> {
        let config = RwLock::new(crate::tls::load(&files)?);
        Ok(TlsSlot { files, config })
    }

    /// The configuration for a new connection.
    pub fn get(&self) -> Arc<ServerConfig> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files again.
    ///
    /// # Errors
    /// What is wrong with the files.
    pub fn read(&self) -> Result<Arc<ServerConfig>, String> {
        crate::tls::load(&self.files)
    }

    /// Puts another configuration in use, for connections that come from here on.
    pub fn set(&self, config: Arc<ServerConfig>) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
    }
}

/// A bound listener with its task.
pub struct Listener {
    /// Where clients reach it.
    pub address: SocketAddr,
    /// Its socket was handed over.
    pub handed: bool,
    /// Its certificate.
    pub tls: Option<Arc<TlsSlot>>,
    task: JoinHandle<()>,
}

impl Listener {
    /// Takes the socket that was handed over for its address, or binds one, and starts to accept.
    ///
    /// # Errors
    /// An address that cannot be bound, with what to do.
    pub fn start(listen: &Listen, app: Arc<App>, handed: &mut Handed) -> Result<Self, String> {
        let tls = listen.tls.clone().map(TlsSlot::new).transpose()?.map(Arc::new);
        let fail = |e: io::Error| format!("{}: cannot be listened on: {e}; choose another address", listen.address);
        let socket = handed.socket(listen.address).map_err(fail)?;
        let address = socket.listener.local_addr().map_err(fail)?;
        let handed = socket.handed;
        let task = tokio::spawn(accept(socket, tls.clone(), app));
        Ok(Listener { address, handed, tls, task })
    }

    /// Waits until it has closed, which it does when the app drains.
    pub async fn closed(self) {
        // a panic in the task has been written out by then
        let _ = self.task.await;
    }
}

async fn accept(Socket { listener: socket, handed }: Socket, tls: Option<Arc<TlsSlot>>, app: Arc<App>) {
    let mut drain = app.drain.subscribe();
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = closing(&mut drain) => break,
        };
        match accepted {
            Ok((stream, peer)) => take(stream, peer, tls.as_ref(), &app),
            Err(error) => {
                log::event("error", "accept", &[("why", &error.to_string())]);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    if handed {
        // who has connected by now waits for the next process
        return;
    }
    // who has connected by now would be cut off with the listener
    while let Ok(Ok((stream, peer))) = tokio::time::timeout(Duration::from_millis(1), socket.accept()).await {
        take(stream, peer, tls.as_ref(), &app);
    }
}

/// Ends when listeners are to close.
pub(super) async fn closing(drain: &mut watch::Receiver<bool>) {
    // a sender that is gone means the end as well
    let _ = drain.wait_for(|&closing| closing).await;
}

fn take(stream: TcpStream, peer: SocketAddr, tls: Option<&Arc<TlsSlot>>, app: &Arc<App>) {
    let limits = app.state().config.limits.clone();
    let open = app.metrics.connections.enter();
    // small pieces of a stream must not wait for more
    let _ = stream.set_nodelay(true);
    if open.value() > limits.connections_max {
        app.metrics.connections_refused.add(1);
        let told = app.metrics.turned_away.enter();
        if told.value() <= TURNED_AWAY_MAX {
            let tls = tls.is_some();
            tokio::spawn(async move {
                connection::turn_away(stream, tls, limits).await;
                drop(told);
            });
        }
        return;
    }
    let (app, tls) = (app.clone(), tls.cloned());
    tokio::spawn(async move {
        match tls {
            None => connection::serve(stream, peer, &app, &limits).await,
            Some(tls) => serve_tls(stream, peer, &tls, &app, &limits).await,
        }
        drop(open);
    });
}

async fn serve_tls(stream: TcpStream, peer: SocketAddr, tls: &TlsSlot, app: &Arc<App>, limits: &Limits) {
    let acceptor = tokio_rustls::TlsAcceptor::from(tls.get());
    match tokio::time::timeout(Limits::ms(limits.header_timeout_ms), acceptor.accept(stream)).await {
        Ok(Ok(stream)) => connection::serve(stream, peer, app, limits).await,
        Ok(Err(_)) | Err(_) => app.metrics.handshakes_failed.add(1),
    }
}
