import Glibc

/// Reads what the kernel knows of a connection that somebody else sends over, and decides how it ends: as long as this lives, closing
/// elsewhere says nothing to the peer.
///
/// Thread-safe.
///
/// C counterpart: `dup(2)`.
package final class ConnectionMeter: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// What the kernel knows of the connection now, also when the peer has closed it.
    package var information: TCPInformation? { TCPInformation(ofSocket: descriptor.number) }

    /// Lets the end of it be a reset, which leaves nothing behind that goes on sending.
    package func resetWhenClosed() {
        descriptor.resetWhenClosed()
    }
}

extension Connection {
    /// A second handle on the socket; nil where it is taken already, or there is no descriptor left (EMFILE).
    package func meter() -> ConnectionMeter? {
        withSocket { number in
            let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
            return copy < 0 ? nil : ConnectionMeter(Descriptor(owning: copy))
        }
    }
}
