import Glibc

/// A regular file that is read at any place.
///
/// C counterpart: `open(2)`, `pread(2)`.
package final class ReadableFile: Sendable {
    private let file: Descriptor

    /// Opens a file; anything but a regular file is refused (EINVAL), and not waited for.
    package init(_ path: String) throws(SystemError) {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard number >= 0 else { throw .current }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(number)
            throw .invalidArgument
        }
        file = Descriptor(owning: number)
    }

    /// How many bytes it has now.
    package var size: Int64 {
        var status = stat()
        return fstat(file.number, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Up to `count` bytes from a place on; none at the end.
    package func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, got in
            repeat {
                got = pread(file.number, buffer.baseAddress, count, off_t(offset))
                failure = got < 0 ? .current : nil
            } while failure == .interrupted
            got = max(0, got)
        }
        if let failure { throw failure }
        return bytes
    }
}
