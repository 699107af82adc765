//! What process trees have cost, as Linux counts it.
use std::fs;

/// CPU time and memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// CPU time since they were started, us; counted in ticks of 10 ms.
    pub(super) cpu_us: u64,
    /// Resident memory, KiB.
    pub(super) resident_kib: u64,
}

/// The cost of these processes and all their children.
pub(super) fn cost(pids: &[u32]) -> Cost {
    let mut all = Vec::new();
    pids.iter().for_each(|pid| tree(*pid, &mut all));
    let mut sum = Cost::default();
    for pid in all {
        // a process that has ended in the meantime costs nothing more
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let behind_name = stat.rfind(')').map_or("", |at| &stat[at..]);
        let field = |n: usize| behind_name.split(' ').nth(n).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
        sum.cpu_us += (field(12) + field(13)) * 10_000;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        sum.resident_kib += resident.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0);
    }
    sum
}

fn tree(pid: u32, out: &mut Vec<u32>) {
    out.push(pid);
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    for task in tasks.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.split_whitespace().filter_map(|c| c.parse().ok()).for_each(|child| tree(child, out));
    }
}
