import CLinux
package import Dispatch
import Glibc

/// The only owner of a file descriptor. Its deinitializer closes the descriptor.
///
/// C counterpart: `close(2)`.
package struct Descriptor: ~Copyable, Sendable {
    package let number: CInt

    package init(owning number: CInt) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Returns the number without closing it. The caller closes it.
    package consuming func release() -> CInt {
        let number = number
        discard self
        return number
    }

    /// Opens a file for reading. C counterpart: `open(2)` with O_RDONLY and O_CLOEXEC.
    package static func open(_ path: String) throws(SystemError) -> Descriptor {
        try Descriptor(opening: path, O_RDONLY)
    }
}

extension Descriptor {
    /// Opens a file with O_CLOEXEC. A new file has the mode 0600.
    ///
    /// C counterpart: `open(2)`.
    init(opening path: String, _ flags: CInt) throws(SystemError) {
        let number = Glibc.open(path, flags | O_CLOEXEC, mode_t(0o600))
        guard number >= 0 else { throw .current }
        self.init(owning: number)
    }

    /// Opens a regular file without blocking. Any other file is an error (EINVAL).
    init(openingRegular path: String, _ flags: CInt) throws(SystemError) {
        let file = try Descriptor(opening: path, flags | O_NOCTTY | O_NONBLOCK)
        guard try file.status().st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
        self = file
    }

    /// Returns the status of the file. C counterpart: `fstat(2)`.
    func status() throws(SystemError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .current }
        return status
    }

    /// Writes all bytes, at the current position or at an offset. If it throws an error, some of the bytes may be
    /// written.
    ///
    /// C counterpart: `write(2)`, `pwrite(2)`.
    func write(_ bytes: [UInt8], at offset: Int64? = nil) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let count = try SystemError.check {
                bytes.withUnsafeBytes { bytes in
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                    guard let offset else { return Glibc.write(number, rest.baseAddress, rest.count) }
                    return pwrite(number, rest.baseAddress, rest.count, off_t(offset) + done)
                }
            }
            if count == 0 { throw .noSpace }
            done += count
        }
    }

    /// Reads up to `count` bytes from an offset. Returns no bytes at the end of the file.
    ///
    /// C counterpart: `pread(2)`.
    func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, got in
            do throws(SystemError) {
                got = try SystemError.check { pread(number, buffer.baseAddress, count, off_t(offset)) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Waits until all data is on disk. Files that are not on a disk, such as pipes, require no wait.
    ///
    /// C counterpart: `fsync(2)`.
    func sync() throws(SystemError) {
        if fsync(number) != 0, SystemError.current != .invalidArgument { throw .current }
    }

    /// Locks the file without waiting.
    ///
    /// - Throws: `.tryAgain` if another open file description has the lock.
    ///
    /// C counterpart: `flock(2)`.
    func lock() throws(SystemError) {
        _ = try SystemError.check { Int(flock(number, LOCK_EX | LOCK_NB)) }
    }
}

/// A descriptor that Dispatch monitors for input.
///
/// Dispatch sources are thread-safe but not marked as such, so each is protected by a lock. Cancelling under the lock
/// is safe, because Dispatch never runs a handler inside `cancel()`.
package enum ReadSource {
    /// Runs `handler` on `queue` whenever `descriptor` is readable, until the result is cancelled or released.
    ///
    /// - Parameter owner: The owner of the descriptor. It is retained until Dispatch no longer uses the descriptor.
    ///   Otherwise the number could already belong to another file.
    package static func watch<Owner: Sendable>(
        _ descriptor: CInt,
        of owner: Owner,
        on queue: DispatchQueue,
        _ handler: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler(handler: handler)
        source.setCancelHandler { withExtendedLifetime(owner) {} }
        source.activate()
        let locked = Locked(source)
        return Cancellation { locked.withLock { $0.cancel() } }
    }

    /// Runs `handler` on `queue` the first time that `descriptor` is readable, unless the result is cancelled or
    /// released before. It is intended for descriptors that stay readable.
    package static func watchOnce<Owner: Sendable>(
        _ descriptor: CInt,
        of owner: Owner,
        on queue: DispatchQueue,
        _ handler: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let locked = Locked(DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue))
        let isOver = Locked(false)
        // Dispatch releases the handlers, and the objects that they capture, after the cancellation.
        @Sendable func end() -> Bool {
            locked.withLock { $0.cancel() }
            return isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
        }
        locked.withLock { source in
            source.setEventHandler { if end() { handler() } }
            source.setCancelHandler { withExtendedLifetime(owner) {} }
            source.activate()
        }
        return Cancellation { _ = end() }
    }
}

/// A file in memory without a name. It exists while the descriptor is open.
///
/// C counterpart: `memfd_create(2)`.
package final class MemoryFile: Sendable {
    private let file: Descriptor

    /// The descriptor. Programs of the same user can open it as `/proc/PROCESS/fd/NUMBER`.
    package var descriptor: CInt { file.number }

    package init(_ content: [UInt8]) throws(SystemError) {
        let number = clinux_memfd_create()
        guard number >= 0 else { throw .current }
        file = Descriptor(owning: number)
        try file.write(content)
    }
}
