import CLinux

/// The memory of the process.
package enum Memory {
    /// Lets all threads share one pool of memory from now on; what each keeps in a pool of its own it keeps for good. For a
    /// program whose threads work one after the other: call it first.
    ///
    /// C counterpart: `mallopt(3)`, `M_ARENA_MAX`.
    package static func shareOnePool() {
        mallopt(M_ARENA_MAX, 1)
    }
}
