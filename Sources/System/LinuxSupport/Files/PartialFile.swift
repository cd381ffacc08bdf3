import CLinux
import Glibc

/// A regular file that is written at any place, for its owner's eyes only until it is done.
///
/// C counterpart: `open(2)`, `pwrite(2)`, `ftruncate(2)`, `fsync(2)`.
package struct PartialFile: ~Copyable, Sendable {
    private let file: Descriptor

    /// Makes a file of mode 0600, or opens what is there. A symbolic link is not followed (ELOOP), and nothing but a regular file is
    /// opened (EINVAL).
    ///
    /// - Parameter isNew: Whether it must not be there (EEXIST).
    package init(_ path: String, isNew: Bool) throws(SystemError) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | (isNew ? O_EXCL : 0)
        let number = open(path, flags, mode_t(0o600))
        guard number >= 0 else { throw .current }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(number)
            throw .invalidArgument
        }
        file = Descriptor(owning: number)
    }

    /// How many bytes it has.
    package func size() throws(SystemError) -> Int64 {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .current }
        return Int64(status.st_size)
    }

    /// Writes all of `bytes` at a place. After an error some of them may be there.
    package func write(_ bytes: some Collection<UInt8>, at offset: Int64) throws(SystemError) {
        let whole = Array(bytes)
        var done = 0
        while done < whole.count {
            let count = whole.withUnsafeBytes { buffer in
                let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                return pwrite(file.number, rest.baseAddress, rest.count, off_t(offset + Int64(done)))
            }
            if count > 0 {
                done += count
            } else if count == 0 {
                throw .noSpace
            } else if SystemError.current != .interrupted {
                throw .current
            }
        }
    }

    /// Up to `count` bytes from a place on; none at the end.
    package func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            let got = pread(file.number, &bytes, count, off_t(offset))
            if got >= 0 { return Array(bytes.prefix(got)) }
            if SystemError.current != .interrupted { throw .current }
        }
    }

    /// Cuts it off, or fills it up with zeros.
    package func setSize(_ size: Int64) throws(SystemError) {
        while ftruncate(file.number, off_t(size)) != 0 {
            if SystemError.current != .interrupted { throw .current }
        }
    }

    /// Waits until everything written is on the disk.
    package func sync() throws(SystemError) {
        if fsync(file.number) != 0, SystemError.current != .invalidArgument { throw .current }
    }

    /// Gives it the mode that a file has which is made without thinking of one: 0666 without what the process's mask takes away.
    package func setUsualMode() throws(SystemError) {
        // umask(2) can only be asked by setting it, which other threads would see; Linux 4.7 and later show it here.
        let line = TextFile.read("/proc/self/status")?.split(at: "\n").first { $0.hasPrefix("Umask:") }
        let mask = line.flatMap { UInt32($0.dropFirst(6).drop { $0 == "\t" || $0 == " " }, radix: 8) } ?? 0o077
        guard fchmod(file.number, mode_t(0o666 & ~mask)) == 0 else { throw .current }
    }

    /// Takes the lock of the file, which one opener has at a time and which ends with this value.
    ///
    /// - Throws: `.tryAgain` where another has it.
    package func lock() throws(SystemError) {
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            if SystemError.current != .interrupted { throw .current }
        }
    }

    /// Gives the lock up before the value ends.
    package func unlock() {
        flock(file.number, LOCK_UN)
    }

    /// Whether the name still leads to this file.
    package func isNamed(_ path: String) -> Bool {
        var (own, named) = (stat(), stat())
        guard fstat(file.number, &own) == 0, lstat(path, &named) == 0 else { return false }
        return own.st_dev == named.st_dev && own.st_ino == named.st_ino
    }
}
