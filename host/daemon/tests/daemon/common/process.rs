//! `forebayd` as a process of its own.
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

/// A running `forebayd`; killed when dropped.
pub(crate) struct Process {
    child: Child,
    stderr: BufReader<ChildStderr>,
    log: String,
}

impl Process {
    pub(crate) fn start(config: &Path) -> Self {
        let mut child =
            Command::new(env!("CARGO_BIN_EXE_forebayd")).arg(config).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Process { child, stderr, log: String::new() }
    }

    /// The same with these sockets handed over, as systemd does.
    pub(crate) fn start_with(config: &Path, sockets: &[TcpListener; 2]) -> Self {
        // sockets come in as standard input and output, and go on as the descriptors that LISTEN_FDS begins with
        let script = "exec 3<&0 4<&1 0</dev/null 1>&2; LISTEN_FDS=2 LISTEN_PID=$$ exec \"$0\" \"$1\"";
        let [first, second] = [0, 1].map(|i: usize| OwnedFd::from(sockets[i].try_clone().unwrap()));
        let mut command = Command::new("bash");
        command.args(["-c", script, env!("CARGO_BIN_EXE_forebayd")]).arg(config);
        let mut child = command.stdin(first).stdout(second).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Process { child, stderr, log: String::new() }
    }

    /// What it says of why it does not start.
    pub(crate) fn fails(mut self) -> String {
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        assert!(!self.child.wait().unwrap().success());
        said
    }

    /// Reads the log up to a line of this event.
    pub(crate) fn wait_for(&mut self, event: &str) -> serde_json::Value {
        loop {
            let mut line = String::new();
            assert!(self.stderr.read_line(&mut line).unwrap() > 0, "no {event} in {}", self.log);
            self.log.push_str(&line);
            let value: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if value["event"] == event {
                return value;
            }
        }
    }

    /// Where its first listener is.
    pub(crate) fn address(&mut self) -> SocketAddr {
        self.wait_for("listening")["address"].as_str().unwrap().parse().unwrap()
    }

    /// Its resident memory, KiB.
    pub(crate) fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// SIGTERM; the whole log once it has ended.
    pub(crate) fn end(mut self) -> String {
        self.signal("TERM");
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        std::mem::take(&mut self.log) + &rest
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
