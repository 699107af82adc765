//! A plain HTTP/1.1 client, which does exactly what it is told.
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// Events of a stream: name and data.
    pub(crate) fn events(&self) -> Vec<(String, String)> {
        let text = self.text();
        let frames = text.split("\n\n").filter(|f| f.lines().any(|l| l.starts_with("data:")));
        let field = |frame: &str, name: &str| {
            let lines = frame.lines().filter_map(|l| l.strip_prefix(name)).map(|v| v.trim_start().to_owned());
            lines.collect::<Vec<_>>().join("\n")
        };
        frames.map(|f| (field(f, "event:"), field(f, "data:"))).collect()
    }

    /// Names of the events of a Messages stream.
    pub(crate) fn names(&self) -> Vec<String> {
        self.events().into_iter().map(|(name, _)| name).collect()
    }

    /// The text of a reply, whole or streamed, of either API.
    pub(crate) fn said(&self) -> String {
        if !self.header("content-type").unwrap_or_default().starts_with("text/event-stream") {
            let json = self.json();
            let texts =
                json["content"].as_array().map(|b| b.iter().filter_map(|b| b["text"].as_str()).collect::<String>());
            let choice = &json["choices"][0];
            let chat = choice["message"]["content"].as_str().or(choice["text"].as_str()).map(str::to_owned);
            return texts.or(chat).unwrap_or_default();
        }
        let piece = |data: String| {
            let v: Value = serde_json::from_str(&data).unwrap_or_default();
            let choice = &v["choices"][0];
            let texts = [&v["delta"]["text"], &choice["delta"]["content"], &choice["text"]];
            texts.iter().find_map(|t| t.as_str().map(str::to_owned)).unwrap_or_default()
        };
        self.events().into_iter().map(|(_, data)| piece(data)).collect()
    }

    /// `error.message` of either API.
    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    /// `error.type` of either API.
    pub(crate) fn kind(&self) -> String {
        self.json()["error"]["type"].as_str().unwrap_or_default().to_owned()
    }
}

/// Text of a request.
pub(crate) fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{method} {target} HTTP/1.1\r\nhost: test\r\n");
    headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
    if !body.is_empty() {
        text.push_str(&format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()));
    }
    text + "\r\n" + body
}

/// A connection.
pub(crate) struct Connection<S = TcpStream> {
    pub(crate) socket: S,
    buffer: Vec<u8>,
}

impl Connection<TcpStream> {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Connection::new(TcpStream::connect(address).await.unwrap())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(crate) fn new(socket: S) -> Self {
        Connection { socket, buffer: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.socket.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Reads on; false at the end.
    async fn more(&mut self) -> bool {
        let mut piece = [0; 16_384];
        match self.socket.read(&mut piece).await {
            Ok(n) if n > 0 => {
                self.buffer.extend_from_slice(&piece[..n]);
                true
            }
            _ => false,
        }
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(count);
        std::mem::replace(&mut self.buffer, rest)
    }

    async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(at) = self.buffer.windows(2).position(|w| w == b"\r\n") {
                let line = self.take(at + 2);
                return Some(String::from_utf8_lossy(&line[..at]).into_owned());
            }
            if !self.more().await {
                return None;
            }
        }
    }

    async fn exactly(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < count {
            if !self.more().await {
                return None;
            }
        }
        Some(self.take(count))
    }

    /// Status and headers; `None` if the connection ends before.
    pub(crate) async fn head(&mut self) -> Option<Reply> {
        let line = self.line().await?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                return Some(Reply { status, headers, body: Vec::new() });
            }
            let (name, value) = line.split_once(':')?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// The next chunk of a chunked body; `Some(empty)` is the last.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(self.line().await?.trim(), 16).ok()?;
        let bytes = self.exactly(size).await?;
        self.line().await?;
        Some(bytes)
    }

    /// A whole answer; `None` if the connection ends before it does.
    pub(crate) async fn reply(&mut self) -> Option<Reply> {
        let mut reply = self.head().await?;
        if reply.header("transfer-encoding") == Some("chunked") {
            loop {
                let chunk = self.chunk().await?;
                if chunk.is_empty() {
                    return Some(reply);
                }
                reply.body.extend(chunk);
            }
        }
        let length = reply.header("content-length").map_or(0, |v| v.parse().unwrap());
        reply.body = self.exactly(length).await?;
        Some(reply)
    }

    /// A request, as a server reads it: head and body as one text.
    pub(crate) async fn request(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut length = 0;
        loop {
            let line = self.line().await?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            text.push_str(&line);
            text.push('\n');
            if line.is_empty() {
                break;
            }
        }
        let body = self.exactly(length).await?;
        Some(text + &String::from_utf8_lossy(&body))
    }

    /// True if the other side closes without a further byte.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.buffer.is_empty() && !self.more().await
    }
}

/// One request on a connection of its own.
pub(crate) async fn ask(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let mut connection = Connection::open(address).await;
    connection.send(request(method, target, headers, body)).await;
    let reply = tokio::time::timeout(super::PATIENCE, connection.reply()).await;
    reply
        .unwrap_or_else(|e| panic!("{method} {target}: {e}"))
        .unwrap_or_else(|| panic!("no whole answer to {method} {target}"))
}

/// A POST without more headers.
pub(crate) async fn post(address: SocketAddr, target: &str, body: &str) -> Reply {
    ask(address, "POST", target, &[], body).await
}

/// A GET without headers.
pub(crate) async fn get(address: SocketAddr, target: &str) -> Reply {
    ask(address, "GET", target, &[], "").await
}
