import Glibc

/// Writing whole texts to a descriptor.
enum Descriptor {
    /// The error number of a write that failed.
    struct Failure: Error {
        let number: CInt

        var isClosedPipe: Bool { number == EPIPE }
        var text: String { unsafe String(cString: strerror(number)) }
    }

    /// Writes all of `text`, in one call where the system takes it: a line is never cut by another process's.
    ///
    /// C counterpart: `write(2)`.
    static func write(_ text: String, to descriptor: CInt) throws(Failure) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EAGAIN {
                // Somebody made our standard output non-blocking.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe Glibc.poll(&poll, 1, -1)
            } else if errno != EINTR {
                throw Failure(number: errno)
            }
        }
    }
}
