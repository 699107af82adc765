//! A device that decides, with the twin beside it: what it does when it is lost, and how it comes back.
use crate::common::client::{get, post, Reply};
use crate::common::*;
use forebay_daemon::decision::Devices;
use forebay_daemon::server::Handed;
use forebay_daemon::Daemon;
use forebay_decide::burst::{Burst, Counters};
use forebay_device::burst::Answer;
use forebay_device::{BurstDevice, DeviceError};
use forebay_spec::burst::Event;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

const WELL: u8 = 0;
const FAILS: u8 = 1;
const HANGS: u8 = 2;
const DIFFERS: u8 = 3;
const PANICS: u8 = 4;
const WITHOUT: u8 = 5;
const CLOSED: u8 = 6;

/// What a device does, and how many were made.
#[derive(Clone, Default)]
struct Told {
    fault: Arc<AtomicU8>,
    made: Arc<AtomicUsize>,
}

/// The twin again, with faults.
struct Faulty {
    burst: Burst,
    answers: VecDeque<Answer>,
    told: Told,
}

impl BurstDevice for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn give(&mut self, event: &Event) -> Result<(), DeviceError> {
        let fault = self.told.fault.load(Relaxed);
        match fault {
            FAILS => return Err(DeviceError::Stuck { clocks: 6 }),
            HANGS => std::thread::sleep(Duration::from_secs(3_600)),
            PANICS => panic!("it panics as it was told"),
            _ => {}
        }
        let mut answer =
            Answer { seq: event.seq, verdicts: self.burst.apply(event), binds_due: self.burst.binds_due() };
        if fault == DIFFERS {
            answer.binds_due ^= 1;
        }
        if fault != WITHOUT {
            self.answers.push_back(answer);
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<Option<Answer>, DeviceError> {
        Ok(self.answers.pop_front())
    }

    fn counters(&self) -> &Counters {
        self.burst.counters()
    }
}

fn devices(told: &Told) -> Devices {
    let told = told.clone();
    Devices::default().with("faulty", move |config| {
        if told.fault.load(Relaxed) == CLOSED {
            return Err(DeviceError::Gone { why: "no card".to_owned() });
        }
        told.made.fetch_add(1, Relaxed);
        let burst = Burst::new(config.clone()).map_err(|e| DeviceError::Garbage { what: e.to_string() })?;
        Ok(Box::new(Faulty { burst, answers: VecDeque::new(), told: told.clone() }))
    })
}

fn settings(rest: &str) -> forebay_daemon::Config {
    let limits = "[limits]\nprobe_interval_ms = 0\ndevice_answer_ms = 5000\ndevice_retry_ms = 20\n";
    let mut config = config(&format!("{limits}{rest}"), Path::new("."));
    config.scheduler.device = "faulty".to_owned();
    config
}

async fn started(told: &Told, config: forebay_daemon::Config) -> Daemon {
    Daemon::start_with(config, Handed::default(), devices(told)).await.unwrap()
}

async fn health(daemon: &Daemon) -> (u16, serde_json::Value) {
    let reply = get(daemon.admin_address().unwrap(), "/health").await;
    (reply.status, reply.json())
}

async fn stands(daemon: &Daemon, state: &str) -> serde_json::Value {
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let (_, body) = health(daemon).await;
        if body["device"]["state"] == state {
            return body;
        }
        assert!(std::time::Instant::now() < end, "{body}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn value(daemon: &Daemon, name: &str) -> f64 {
    figures(&get(daemon.admin_address().unwrap(), "/metrics").await.text())[name]
}

/// Requests that run and are held while something happens, some of which leave.
fn crowd(daemon: &Daemon, count: usize) -> tokio::task::JoinSet<Option<Reply>> {
    let mut all = tokio::task::JoinSet::new();
    for i in 0..count {
        let at = address(daemon);
        all.spawn(async move {
            let body = messages("one two three four five six seven eight", i % 2 == 0);
            let reply = post(at, "/v1/messages", &body);
            match i % 7 {
                6 => tokio::time::timeout(Duration::from_millis(30), reply).await.ok(),
                _ => Some(reply.await),
            }
        });
    }
    all
}

async fn all_served(mut crowd: tokio::task::JoinSet<Option<Reply>>) {
    while let Some(reply) = crowd.join_next().await {
        if let Some(reply) = reply.unwrap() {
            assert_eq!(reply.status, 200, "{}", reply.text());
            assert_eq!(reply.said(), "one two three four five six seven eight");
        }
    }
}

/// Places for a few: others are held when the device is lost, and when it comes back.
const ENGINE: &str =
    "[[engine]]\nname = \"echo\"\nkind = \"echo\"\nrequests_max = 6\n[engine.echo]\noutput_token_ms = 10\n";

#[tokio::test]
async fn whatever_becomes_of_the_device_every_request_is_served_once_and_it_comes_back() {
    for (fault, why, says) in [
        (FAILS, "failed", "did not take its input"),
        (PANICS, "failed", "its thread has ended"),
        (DIFFERS, "differs", "the twin says"),
        (WITHOUT, "differs", "says nothing"),
    ] {
        let told = Told::default();
        let daemon = started(&told, settings(ENGINE)).await;
        assert_eq!(stands(&daemon, "decides").await["status"], "ok");
        let before = crowd(&daemon, 12);
        eventually("some are held", || (daemon.app().decider.gauges().held.load(Relaxed) < 4).then_some(())).await;
        told.fault.store(fault, Relaxed);
        let during = crowd(&daemon, 4);
        // it is lost again and again, and requests run on
        let body = stands(&daemon, "lost").await;
        assert!(body["device"]["why"].as_str().is_some_and(|why| why.contains(says)), "{body}");
        assert_eq!((health(&daemon).await.0, &body["device"]["name"]), (200, &"faulty".into()));
        told.fault.store(WELL, Relaxed);
        let after = crowd(&daemon, 4);
        for crowd in [before, during, after] {
            all_served(crowd).await;
        }
        stands(&daemon, "decides").await;
        let reply = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
        assert_eq!(reply.header("x-forebay-layer"), Some("faulty"));
        at_rest(&daemon).await;
        let page = get(daemon.admin_address().unwrap(), "/metrics").await.text();
        let figures = figures(&page);
        assert_eq!(complaint(&figures.into_iter().filter(|(n, _)| n != "forebay_connections").collect()), None);
        let failures = value(&daemon, &format!("forebay_device_failures_total{{why=\"{why}\"}}")).await;
        let joined = value(&daemon, "forebay_device_joined_total").await;
        assert!(failures >= 1.0 && joined == failures + 1.0, "{failures} {joined}");
        assert_eq!(value(&daemon, "forebay_device_lost").await, 0.0);
        assert_eq!(told.made.load(Relaxed), joined as usize);
    }
}

#[tokio::test]
async fn a_device_that_gives_no_answer_is_given_up_after_its_time() {
    let told = Told::default();
    let mut config = settings(ENGINE);
    config.limits.device_answer_ms = 50;
    config.limits.device_retry_ms = 3_600_000;
    let daemon = started(&told, config.clone()).await;
    stands(&daemon, "decides").await;
    let before = crowd(&daemon, 12);
    told.fault.store(HANGS, Relaxed);
    let body = stands(&daemon, "lost").await;
    assert_eq!(body["status"], "device lost, the twin decides");
    assert!(body["device"]["why"].as_str().is_some_and(|why| why.contains("no answer within 50 ms")), "{body}");
    assert_eq!(value(&daemon, "forebay_device_lost").await, 1.0);
    all_served(before).await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
    assert_eq!((reply.status, reply.header("x-forebay-layer")), (200, Some("twin")));
    // whoever reloads may have mended it: no need to wait
    told.fault.store(WELL, Relaxed);
    daemon.exchange(config.clone()).await.unwrap();
    stands(&daemon, "decides").await;
    at_rest(&daemon).await;
    // a reload with another set-up has a device of its own, and the twin needs none
    let running = crowd(&daemon, 12);
    config.scheduler.hold_ms = 2_500;
    daemon.exchange(config.clone()).await.unwrap();
    stands(&daemon, "decides").await;
    config.scheduler.device = "twin".to_owned();
    daemon.exchange(config).await.unwrap();
    stands(&daemon, "none").await;
    all_served(running).await;
    at_rest(&daemon).await;
    assert_eq!(told.made.load(Relaxed), 3);
}

#[tokio::test]
async fn a_device_that_cannot_be_opened_keeps_nobody_waiting() {
    let told = Told::default();
    told.fault.store(CLOSED, Relaxed);
    let daemon = started(&told, settings(ENGINE)).await;
    let body = stands(&daemon, "lost").await;
    assert!(body["device"]["why"]
        .as_str()
        .is_some_and(|why| why.contains("cannot be opened") && why.contains("no card")));
    all_served(crowd(&daemon, 9)).await;
    told.fault.store(WELL, Relaxed);
    stands(&daemon, "decides").await;
    all_served(crowd(&daemon, 9)).await;
    assert!(value(&daemon, "forebay_device_failures_total{why=\"open\"}").await >= 1.0);
    at_rest(&daemon).await;
    // one that nobody knows is refused
    let mut config = settings(ENGINE);
    config.scheduler.device = "card".to_owned();
    let error = Daemon::start_with(config.clone(), Handed::default(), devices(&told)).await.err().unwrap();
    assert!(error.contains("\"card\"") && error.contains("twin, faulty"), "{error}");
    assert!(daemon.exchange(config).await.unwrap_err().contains("\"card\""));
}
