//! What `forebay frames` prints for a reader.
use super::{Counts, Reading};
use crate::replay::table::{plain, Table};

/// A line for each capture, and the sums.
pub fn text(readings: &[Reading], devices: &[&str]) -> String {
    let numbers = ["frames", "segments", "opened", "given up", "decided", "passed", "punted"];
    let mut columns = vec![("capture", false), ("ports", false)];
    columns.extend(numbers.map(|name| (name, true)));
    let mut table = Table::new(&columns);
    for r in readings {
        let segments = ["segment", "trimmed"].iter().filter_map(|end| r.ends.get(end)).sum();
        let numbers = [r.frames, segments, r.opened, sum(&r.given_up), r.decided, r.passed, sum(&r.punts)];
        let ports: Vec<String> = r.ports.iter().map(u16::to_string).collect();
        let mut row = vec![plain(&r.capture), if ports.is_empty() { "none".to_owned() } else { ports.join(",") }];
        row.extend(numbers.map(|n| n.to_string()));
        table.row(row);
    }
    let all = |counts: fn(&Reading) -> &Counts| {
        let mut all = Counts::new();
        readings.iter().flat_map(counts).for_each(|(name, n)| *all.entry(name).or_default() += n);
        all
    };
    let total = |number: fn(&Reading) -> u64| readings.iter().map(number).sum::<u64>();
    let (ends, given_up, closed, punts) =
        (all(|r| &r.ends), all(|r| &r.given_up), all(|r| &r.closed), all(|r| &r.punts));
    let compared = if devices.len() > 1 { ", equal after every frame" } else { "" };
    let jumps = match total(|r| r.time_jumps) {
        0 => String::new(),
        n => format!("time         {n} silences of more than an hour, cut to an hour\n"),
    };
    format!(
        "{}\ndevice       {}{compared}\nframes       {}: {}\nconnections  opened {}; closed: {}; given up: {}; given back {}\n\
         requests     decided {}, passed {}, punted: {}; of connections given up, by software {}\n{jumps}",
        table.text(),
        devices.join(" and "),
        total(|r| r.frames),
        list(&ends),
        total(|r| r.opened),
        list(&closed),
        list(&given_up),
        total(|r| r.resumed),
        total(|r| r.decided),
        total(|r| r.passed),
        list(&punts),
        total(|r| r.by_software),
    )
}

fn sum(counts: &Counts) -> u64 {
    counts.values().sum()
}

fn list(counts: &Counts) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    counts.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
}
