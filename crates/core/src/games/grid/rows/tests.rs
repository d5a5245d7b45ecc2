//! Connect Four as rows of bytes against Connect Four of the core.
