//! The `rankrls` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    rankrls_cli::main()
}
