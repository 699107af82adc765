//! The keyed tag of a credential.
