//! Times the messages of a step: `mpirun -n 4 target/release/examples/latency`.

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    rankrls_mpi::as_rank(|peers| {
        for (words, rounds) in [(2, 2_000), (300, 2_000), (1_000_000, 20)] {
            let mut times: Vec<f64> = (0..rounds)
                .map(|_| {
                    let own = if peers.rank() == 0 { words } else { 1 };
                    let begin = Instant::now();
                    peers.gather(vec![1; own]);
                    begin.elapsed().as_secs_f64() * 1e6
                })
                .collect();
            times.sort_by(f64::total_cmp);
            if peers.rank() == 0 {
                let [best, middle] = [times[rounds / 10], times[rounds / 2]];
                println!("{words} words: {best:.1} us, the median {middle:.1} us");
            }
        }
        ExitCode::SUCCESS
    })
}
