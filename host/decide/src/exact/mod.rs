//! The exact software path.
