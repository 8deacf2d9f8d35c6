//! The `rankrls` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    rankrls::cli::main()
}
