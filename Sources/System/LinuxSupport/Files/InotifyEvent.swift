import CLinux
import Glibc

/// One event of an inotify descriptor.
///
/// C counterpart: `struct inotify_event`, `inotify(7)`.
package struct InotifyEvent: Sendable {
    package let watch: CInt
    package let mask: UInt32
    /// The name inside the watched directory; empty for the directory itself.
    package let name: String

    /// Events were lost (IN_Q_OVERFLOW).
    package var isOverflow: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }

    /// The watch is no more: the directory was deleted or unmounted, or the watch taken away (IN_IGNORED).
    package var isLastOfWatch: Bool { mask & UInt32(IN_IGNORED) != 0 }

    /// Reads what is there, without waiting where the descriptor does not block.
    package static func read(from inotify: borrowing Descriptor) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(inotify.number, &bytes, bytes.count)
            guard count > 0 else { return events }
            bytes.withUnsafeBytes { buffer in
                var rest = buffer.bytes(from: 0, length: count)
                // Descriptor, mask, cookie and length of the name that follows.
                while let watch = rest.load(Int32.self, at: 0), let mask = rest.load(UInt32.self, at: 4),
                    let length = rest.load(UInt32.self, at: 12)
                {
                    let name = rest.bytes(from: 16, length: Int(length)).text
                    events.append(InotifyEvent(watch: watch, mask: mask, name: name))
                    rest = rest.bytes(from: 16 + Int(length))
                }
            }
        }
    }
}
