//! The forebay command line: capture files in, verdicts out.
