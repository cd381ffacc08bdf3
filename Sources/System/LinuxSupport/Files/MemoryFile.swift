import CLinux
import Glibc

/// A file without a name, in memory: gone when nobody has it open any more.
///
/// C counterpart: `memfd_create(2)`.
package final class MemoryFile: Sendable {
    private let file: Descriptor

    /// What programs of the same user open as `/proc/PROCESS/fd/NUMBER`.
    package var descriptor: CInt { file.number }

    package init(_ content: [UInt8]) throws(SystemError) {
        let number = clinux_memfd_create()
        guard number >= 0 else { throw .current }
        file = Descriptor(owning: number)
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw .current
            }
            rest = rest.dropFirst(count)
        }
    }
}
