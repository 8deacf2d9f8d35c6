//! The free memory of the machine, and the memory of this process. Both are known on Linux only.

use std::fs;
use std::path::{Path, PathBuf};

/// Least memory to leave to other programs, in bytes.
const LEAST_MARGIN: u64 = 256 << 20;

/// Bytes that may be taken: the [`free`] memory less the [`margin`]. Under `ulimit -v`, at most three quarters of
/// the addresses left, as threads take addresses too.
pub fn budget() -> Option<u64> {
    let free = free().map(|free| free.saturating_sub(margin(free)));
    let process = room().map(|left| left - left / 4);
    [free, process].into_iter().flatten().min()
}

/// Bytes of addresses left under `ulimit -v`, if it is set.
pub fn room() -> Option<u64> {
    let read = |name| fs::read_to_string(name).unwrap_or_default();
    address_space(&read("/proc/self/limits"), &read("/proc/self/status"))
}

/// The part of `free` bytes to leave to others: a twentieth, and at least 256 MiB.
pub fn margin(free: u64) -> u64 {
    (free / 20).max(LEAST_MARGIN)
}

/// Bytes that can be taken without swapping, within the limits of the process's control groups (version 1 or 2).
pub fn free() -> Option<u64> {
    let machine = kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = free_in_groups(Path::new("/sys/fs/cgroup"), &groups);
    Some(group.map_or(machine, |group| group.min(machine)))
}

/// Bytes of addresses left under the limit of a process, if it has one.
fn address_space(limits: &str, status: &str) -> Option<u64> {
    let limit = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes(status, "VmSize:").unwrap_or(0)))
}

/// Most bytes that this process ever had in memory.
pub fn peak() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Bytes that this process has in memory now.
pub fn current() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The bytes on the line of `key`, which counts kilobytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let number = text.lines().find_map(|line| line.strip_prefix(key))?;
    let number = number.trim().strip_suffix("kB")?.trim();
    number.parse::<u64>().ok()?.checked_mul(1024)
}

/// The names that the two versions of control groups give to the same files.
struct Version {
    limit: &'static str,
    used: &'static str,
    /// Page cache that the system frees on demand.
    reclaimable: &'static str,
}

const VERSION_1: Version = Version {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

const VERSION_2: Version = Version {
    limit: "memory.max",
    used: "memory.current",
    reclaimable: "inactive_file",
};

/// The bytes that the tightest control group leaves. `groups` lists the groups of the process, one a line:
/// `0::/path` in version 2, `4:memory:/path` in version 1.
fn free_in_groups(root: &Path, groups: &str) -> Option<u64> {
    let group = |line: &str| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        if controllers.split(',').any(|name| name == "memory") {
            return free_up_from(&root.join("memory"), path, &VERSION_1);
        }
        (number == "0").then(|| free_up_from(root, path, &VERSION_2))?
    };
    groups.lines().filter_map(group).min()
}

/// The fewest bytes that the group at `path` and the groups above it leave. A container may see its own group at
/// the root instead of at that path.
fn free_up_from(root: &Path, path: &str, version: &Version) -> Option<u64> {
    let relative = PathBuf::from(path.trim_start_matches('/'));
    let groups = relative.ancestors();
    groups
        .filter_map(|group| free_in(&root.join(group), version))
        .min()
}

fn free_in(group: &Path, version: &Version) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let limit = number(version.limit)?;
    let used = number(version.used)?;
    let statistics = read("memory.stat").unwrap_or_default();
    let reclaimable = statistics.lines().find_map(|line| {
        let (key, value) = line.split_once(' ')?;
        (key == version.reclaimable).then(|| value.trim().parse::<u64>().ok())?
    });
    let used = used.saturating_sub(reclaimable.unwrap_or(0));
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_the_process_is_known() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max data size             unlimited            unlimited            bytes     \n\
            Max address space         1048576000           unlimited            bytes     \n";
        let status = "Name:\trankrls\nVmSize:\t    1000 kB\n";
        assert_eq!(
            address_space(limits, status),
            Some(1_048_576_000 - 1_024_000)
        );
        let unlimited = limits.replace("1048576000", "unlimited");
        assert_eq!(address_space(&unlimited, status), None);
        assert_eq!(address_space("", ""), None);
    }

    #[test]
    fn the_margin_is_a_twentieth_or_more() {
        assert_eq!(margin(100 << 30), 5 << 30);
        assert_eq!(margin(1 << 30), 256 << 20);
        assert!(free().is_none_or(|free| budget().is_some_and(|budget| budget < free)));
    }

    #[test]
    fn kilobytes_are_found_by_their_key() {
        let text = "MemTotal:  9 kB\nMemAvailable:   15 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(15 * 1024));
        assert_eq!(kilobytes(text, "VmHWM:"), None);
        assert_eq!(kilobytes("VmHWM: x kB", "VmHWM:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells() {
        assert!(free().unwrap() > 0);
        assert!(peak().unwrap() > 100_000);
    }

    fn group(folder: &Path, version: &Version, limit: &str, used: u64, inactive: u64) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(version.limit), format!("{limit}\n")).unwrap();
        fs::write(folder.join(version.used), format!("{used}\n")).unwrap();
        let statistics = format!("anon 3\n{} {inactive}\n", version.reclaimable);
        fs::write(folder.join("memory.stat"), statistics).unwrap();
    }

    #[test]
    fn the_tightest_group_above_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        group(&root.join("a"), &VERSION_2, "1000", 700, 100);
        group(&root.join("a/b"), &VERSION_2, "max", 50, 0);
        assert_eq!(free_in_groups(root, "0::/a/b\n"), Some(400));
        group(&root.join("a/b"), &VERSION_2, "300", 350, 0);
        assert_eq!(free_in_groups(root, "0::/a/b\n"), Some(0));
        assert_eq!(free_in_groups(root, "0::/elsewhere\n"), None);
        group(root, &VERSION_2, "70", 10, 0);
        assert_eq!(free_in_groups(root, "0::/elsewhere\n"), Some(60));
    }

    #[test]
    fn the_memory_controller_of_version_1_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        group(&root.join("memory/c"), &VERSION_1, "100", 30, 10);
        assert_eq!(free_in_groups(root, "5:cpu:/c\n4:memory:/c\n"), Some(80));
        assert_eq!(free_in_groups(root, "5:cpu,cpuacct:/c\n"), None);
    }
}
