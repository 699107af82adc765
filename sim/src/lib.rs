//! The Verilated core behind a safe model, and its in-process transport.
