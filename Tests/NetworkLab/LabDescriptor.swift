import Glibc
import Synchronization

/// Owns a file descriptor: closed once, by `close()` or with its last owner.
package final class LabDescriptor: Sendable {
    private let storage: Atomic<CInt>

    package init(_ descriptor: CInt) {
        storage = Atomic(descriptor)
    }

    /// The number of the descriptor, -1 once it is closed.
    package var number: CInt { storage.load(ordering: .acquiring) }

    package func close() {
        let descriptor = storage.exchange(-1, ordering: .acquiringAndReleasing)
        if descriptor >= 0 {
            Glibc.close(descriptor)
        }
    }

    deinit {
        close()
    }
}
