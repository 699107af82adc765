//! The reference, the corpus and the runs that compare implementations.
