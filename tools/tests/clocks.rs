//! The table of clocks of the demo: the stated bounds, whatever the body and the width.
#![cfg(feature = "sim")]
use forebay_spec::limits::{RECORD_CLOCKS, RECORD_PATTERN_CLOCKS};
use forebay_tools::clocks;

#[test]
fn every_body_takes_the_clocks_of_its_policy() {
    let columns = clocks::columns().expect("the simulation");
    let kinds: Vec<(usize, bool)> = columns.iter().map(|c| (c.beat_bytes, c.patterns)).collect();
    assert_eq!(kinds, [(8, false), (64, false), (8, true), (64, true)]);
    for column in columns {
        let record = if column.patterns { RECORD_PATTERN_CLOCKS } else { RECORD_CLOCKS };
        assert!(
            column.rows.len() == 19 && column.rows.iter().all(|r| (r.record_clocks, r.verdict_clocks) == (record, 7))
        );
    }
}
