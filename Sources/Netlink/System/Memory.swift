import CNetlink

/// The memory of the process.
package enum Memory {
    /// Gives free memory back to the system. Worth its millisecond after work that needed much more than it leaves behind.
    ///
    /// C counterpart: `malloc_trim(3)`.
    package static func giveBack() {
        malloc_trim(0)
    }
}
