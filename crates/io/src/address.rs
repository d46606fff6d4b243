//! Addresses as the kernel wants them.
