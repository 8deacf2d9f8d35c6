//! The memory that a call may take, what the machine has left and this process took, and sizes as people
//! write them.
//!
//! What the machine has is known on Linux only: elsewhere it is `None`.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

/// The memory that a call may take: a limit, and what the caller has taken of it. As JSON: the limit.
///
/// ```
/// use rankrls::memory::Memory;
///
/// let memory = Memory::limit(8 << 30).holding(2 << 30);
/// assert_eq!(memory.left(), Some(6 << 30));
/// assert_eq!(Memory::default().holding(2 << 30).left(), None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<u64>")]
pub struct Memory {
    /// Bytes that may be in use, in all; `None`: no limit.
    pub limit: Option<u64>,
    /// Bytes in use besides the data and the column classes that a call is given, which it counts.
    pub held: u64,
}

impl Memory {
    /// At most so many `bytes` in all, of which nothing is taken; `None`: no limit.
    pub fn limit(bytes: impl Into<Option<u64>>) -> Self {
        let (limit, held) = (bytes.into(), 0);
        Self { limit, held }
    }

    /// With so many `bytes` more in use.
    #[must_use]
    pub fn holding(self, bytes: u64) -> Self {
        let held = self.held.saturating_add(bytes);
        Self { held, ..self }
    }

    /// With a limit of so many `bytes`, unless there is one.
    #[must_use]
    pub fn within(self, bytes: Option<u64>) -> Self {
        let limit = self.limit.or(bytes);
        Self { limit, ..self }
    }

    /// Bytes that may be taken yet; `None`: no limit.
    pub fn left(self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.held))
    }

    /// Whether so many `bytes` more are within the limit.
    pub fn allows(self, bytes: u64) -> bool {
        let all = self.holding(bytes).held;
        self.limit.is_none_or(|limit| all <= limit)
    }
}

impl From<Option<u64>> for Memory {
    fn from(limit: Option<u64>) -> Self {
        Self::limit(limit)
    }
}

impl From<u64> for Memory {
    fn from(limit: u64) -> Self {
        Self::limit(limit)
    }
}

/// Least memory that is left to others, in bytes.
const LEAST_MARGIN: u64 = 256 << 20;

/// Bytes that may be taken: what is [`free`] less the [`margin`], and at most three quarters of what
/// the limit of the process (`ulimit -v`) leaves, as threads take addresses, too.
pub fn budget() -> Option<u64> {
    let free = free().map(|free| free.saturating_sub(margin(free)));
    let read = |name| fs::read_to_string(name).unwrap_or_default();
    let process = address_space(&read("/proc/self/limits"), &read("/proc/self/status"));
    let process = process.map(|left| left - left / 4);
    [free, process].into_iter().flatten().min()
}

/// The part of `free` bytes to leave to others: a twentieth, and at least 256 MiB.
pub fn margin(free: u64) -> u64 {
    (free / 20).max(LEAST_MARGIN)
}

/// Bytes that can be taken without swapping, and within the limits of the control groups
/// (version 1 or 2) that the process is in.
pub fn free() -> Option<u64> {
    let machine = kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = free_in_groups(Path::new("/sys/fs/cgroup"), &groups);
    Some(group.map_or(machine, |group| group.min(machine)))
}

/// Bytes of addresses that a process has left under its limit, if there is one.
fn address_space(limits: &str, status: &str) -> Option<u64> {
    let limit = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes(status, "VmSize:").unwrap_or(0)))
}

/// Most bytes that this process has had in memory at once.
pub fn peak() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Bytes that this process has in memory now.
pub fn current() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The bytes on the line that begins with `key` and counts kilobytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let number = text.lines().find_map(|line| line.strip_prefix(key))?;
    let number = number.trim().strip_suffix("kB")?.trim();
    number.parse::<u64>().ok()?.checked_mul(1024)
}

/// The names that the two versions of control groups give to the same files.
struct Version {
    limit: &'static str,
    used: &'static str,
    /// Page cache that goes when memory is needed.
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

/// What the tightest of the control groups leaves. `groups` has the groups of the process, one
/// line each: `0::/path` in version 2, `4:memory:/path` in version 1.
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

/// What the group at `path` and those above it leave. A container may not see its own group
/// under that path, but then it sees it at the root.
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

/// A number of bytes as people write it: `8GiB`, `2.5GB`, `1000000 bytes`. Above 0 where it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The number, and the same in a unit that can be read where it is large.
    pub(crate) fn exact(self) -> String {
        if self.0 < 1 << 10 {
            return self.to_string();
        }
        format!("{} bytes ({self})", self.0)
    }
}

const UNITS: [(&str, u64); 11] = [
    ("", 1),
    ("b", 1),
    ("bytes", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || {
            format!(
                "expected a size above 0 such as 8GiB, 512MiB, 2.5GB or 1000000 bytes, found {text:?}"
            )
        };
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit.trim_start().to_ascii_lowercase();
        let (_, unit) = UNITS
            .into_iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(refused)?;
        let bytes = times(number, unit).ok_or_else(refused)?;
        Some(Self(bytes)).filter(|_| bytes > 0).ok_or_else(refused)
    }
}

/// A whole number is multiplied exactly, others to the precision of a float.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
fn times(number: &str, unit: u64) -> Option<u64> {
    if !number.contains('.') {
        return number.parse::<u64>().ok()?.checked_mul(unit);
    }
    let bytes = number.parse::<f64>().ok()? * unit as f64;
    (bytes < 2.0_f64.powi(63)).then_some(bytes as u64)
}

impl fmt::Display for Bytes {
    /// In the largest binary unit of which there is one.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        match units.into_iter().find(|(_, shift)| self.0 >> shift > 0) {
            Some((name, shift)) => {
                let size = self.0 as f64 / (1_u64 << shift) as f64;
                write!(formatter, "{size:.1} {name}")
            }
            None => write!(formatter, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_counts_towards_the_limit() {
        let memory = Memory::limit(10).holding(3).holding(4);
        assert_eq!((memory.held, memory.left()), (7, Some(3)));
        assert!(memory.allows(3) && !memory.allows(4));
        assert!(!memory.holding(4).allows(0));
        assert_eq!(memory.holding(u64::MAX).left(), Some(0));
        assert_eq!(memory.within(Some(99)), memory);
        let open = Memory::default().holding(7);
        assert!(open.allows(u64::MAX) && open.left().is_none());
        assert_eq!(open.within(Some(10)), memory);
        let read = |json| serde_json::from_str::<Memory>(json).unwrap();
        assert_eq!(read("10"), Memory::limit(10));
        assert_eq!(read("null"), Memory::default());
    }

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
    fn sizes_are_read() {
        for (text, bytes) in [
            ("1", 1),
            ("1000000 bytes", 1_000_000),
            ("8GiB", 8 << 30),
            ("8 gib", 8 << 30),
            ("512MiB", 512 << 20),
            ("4KiB", 4096),
            ("3kb", 3000),
            ("2.5GB", 2_500_000_000),
            ("0.5KiB", 512),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "0",
            "0.0GiB",
            "GiB",
            "-1",
            "1XB",
            "1 2",
            "1.2.3MB",
            "99999999TiB",
            "99999999.5TiB",
            "1e9",
            "nan",
            "inf",
            ".",
        ] {
            let error = text.parse::<Bytes>().unwrap_err();
            assert!(error.contains("8GiB"), "{text}");
        }
    }

    #[test]
    fn sizes_are_written() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (3 << 29, "1.5 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        assert_eq!(Bytes(1023).exact(), "1023 bytes");
        assert_eq!(Bytes(3 << 29).exact(), "1610612736 bytes (1.5 GiB)");
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
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
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
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        group(&root.join("memory/c"), &VERSION_1, "100", 30, 10);
        assert_eq!(free_in_groups(root, "5:cpu:/c\n4:memory:/c\n"), Some(80));
        assert_eq!(free_in_groups(root, "5:cpu,cpuacct:/c\n"), None);
    }
}
