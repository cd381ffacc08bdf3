import Glibc
import LinuxSupport

/// Standard output and standard error, and writing whole texts to them.
package enum StandardStream {
    /// The error number of a write that failed.
    package struct Failure: Error {
        package let number: CInt

        package var isClosedPipe: Bool { number == EPIPE }
        package var text: String { unsafe String(cString: strerror(number)) }
    }

    /// Makes sure that no socket of ours gets the number of a standard stream that was closed: what is written to it
    /// would go to the kernel. Using the placeholder fails like using what it stands for.
    package static func occupyNumbers() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is taken.
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes all of `text`, in one call where the system takes it: a line is never cut by another process's.
    ///
    /// C counterpart: `write(2)`.
    package static func write(_ text: [UInt8], to descriptor: CInt) throws(Failure) {
        var bytes = text[...]
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

/// Diagnostics, one line at a time. They quote arguments, files and what servers said: what would steer a terminal is shown instead of
/// sent to it.
package enum StandardError {
    package static func write(_ line: String) {
        // Nobody is left to tell when even this fails.
        _ = try? StandardStream.write(Array((line.printableLines + "\n").utf8), to: STDERR_FILENO)
    }
}
