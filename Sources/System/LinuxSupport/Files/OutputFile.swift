import Glibc

/// A file that is written from its beginning to its end, for its owner's eyes only.
///
/// C counterpart: `open(2)`, `write(2)`, `fsync(2)`.
package struct OutputFile: ~Copyable, Sendable {
    private let file: Descriptor

    /// Makes a file of mode 0600.
    ///
    /// - Parameter replacing: Whether what is there is emptied; otherwise anything that is there is an error (EEXIST). A
    ///   symbolic link is not followed in either case.
    package init(_ path: String, replacing: Bool) throws(SystemError) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | (replacing ? O_TRUNC : O_EXCL)
        let number = open(path, flags, mode_t(0o600))
        guard number >= 0 else { throw .current }
        file = Descriptor(owning: number)
        // What was there may have had another mode; what is no file, such as a pipe, keeps its own.
        var status = stat()
        if replacing, fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG { fchmod(number, 0o600) }
    }

    /// Writes all of `bytes` at the end. After an error some of them may be there.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 {
                throw .noSpace
            } else if SystemError.current != .interrupted {
                throw .current
            }
        }
    }

    /// Waits until everything written is on the disk. What is no file on a disk, such as a pipe, needs none of it.
    package func sync() throws(SystemError) {
        if fsync(file.number) != 0, SystemError.current != .invalidArgument { throw .current }
    }
}
