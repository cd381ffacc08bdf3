import CLinux
import Glibc

/// Where the service manager that started this process, systemd or another, hears how it does.
///
/// Each text is one datagram, and its lines are assignments such as `READY=1`. Thread-safe.
///
/// C counterpart: `sd_notify(3)`.
package struct NotifySocket: Hashable, Sendable {
    /// A path, or `@` and a name in the abstract namespace of `unix(7)`.
    package let place: String

    /// A text of more bytes is not taken: systemd drops what does not fit into its buffer.
    package static let longestText = 4096

    /// Nil for a place that is none, or longer than an address may be.
    package init?(_ place: String) {
        guard place.hasPrefix("/") || place.hasPrefix("@"), place.utf8.count > 1,
            place.utf8.count <= LocalSocket.longestPath, !place.utf8.contains(0)
        else { return nil }
        self.place = place
    }

    /// Sends a text, and returns when the manager has it in its queue.
    ///
    /// - Parameter patience: So many seconds a manager that does not read is waited for.
    /// - Throws: ``SystemError``: nobody hears there (ENOENT, ECONNREFUSED), or it was not taken in that time (EAGAIN).
    package func send(_ text: String, patience: Int = 5) throws(SystemError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.longestText else { throw .messageTooLong }
        // A new one each time: the manager may have been replaced meanwhile.
        let number = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .current }
        let file = Descriptor(owning: number)
        var time = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(file.number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(place.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // What follows an abstract name belongs to it, so it must not be sent.
        let length = MemoryLayout<sa_family_t>.size + name.count + (name.first == 0 ? 0 : 1)
        let flags = CInt(MSG_NOSIGNAL) | (patience > 0 ? 0 : CInt(MSG_DONTWAIT))
        while true {
            let count = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(file.number, bytes, bytes.count, flags, $0, socklen_t(length))
                }
            }
            if count >= 0 { return }
            let error = SystemError.current
            if error != .interrupted { throw error }
        }
    }
}
