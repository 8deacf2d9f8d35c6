//! The `rankrls` command.

fn main() {}
