import CLinux
import Glibc
import LinuxSupport

/// The interface that sockets are bound to (`sk_bound_dev_if`).
package enum SocketBinding {
    /// That of new sockets of this process, as it was at the first question: `ip vrf exec` binds them with a program of the
    /// control group (`ip-vrf(8)`). Nil where they are bound to none.
    package static let ofNewSockets: UInt32? = {
        for family in [AF_INET, AF_INET6] {
            let number = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            if number >= 0 { return interface(of: Descriptor(owning: number)) }
        }
        return nil
    }()

    /// The index of the interface a socket is bound to; nil for none, and for kernels before 5.0, which do not tell.
    ///
    /// C counterpart: `getsockopt(2)` with SO_BINDTOIFINDEX.
    static func interface(of socket: borrowing Descriptor) -> UInt32? {
        var index: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(socket.number, SOL_SOCKET, SO_BINDTOIFINDEX, &index, &length) == 0, index > 0 else {
            return nil
        }
        return UInt32(index)
    }
}
