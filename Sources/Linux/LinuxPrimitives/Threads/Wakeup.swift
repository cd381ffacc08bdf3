import CLinux
import Glibc

/// Wakes a thread that waits for descriptors, now and every later time it waits: it is never reset, so it is for one thread that is
/// to end.
///
/// C counterpart: `eventfd(2)`.
package struct Wakeup: ~Copyable, Sendable {
    private let descriptor: Descriptor

    package init() throws(SystemError) {
        let number = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw .current }
        descriptor = Descriptor(owning: number)
    }

    /// What becomes readable.
    package var number: CInt { descriptor.number }

    package func wake() {
        eventfd_write(number, 1)
    }
}
