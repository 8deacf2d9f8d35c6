//! Selection as the ranks of an MPI job: `mpirun -n 4 rankrls-mpi select DATA ...`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rankrls_mpi::as_rank(|peers| rankrls_mpi::run(&peers))
}
