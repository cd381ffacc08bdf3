import Glibc

/// An error number of the kernel. The type is open, because the kernel may add numbers.
///
/// C counterpart: `errno(3)`.
package struct SystemError: RawRepresentable, Error, Hashable, Sendable {
    package let rawValue: CInt

    package init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    package static let notPermitted = SystemError(rawValue: EPERM)
    package static let noSuchProcess = SystemError(rawValue: ESRCH)
    package static let noEntry = SystemError(rawValue: ENOENT)
    package static let interrupted = SystemError(rawValue: EINTR)
    package static let tryAgain = SystemError(rawValue: EAGAIN)
    package static let accessDenied = SystemError(rawValue: EACCES)
    package static let noDevice = SystemError(rawValue: ENODEV)
    package static let invalidArgument = SystemError(rawValue: EINVAL)
    package static let networkDown = SystemError(rawValue: ENETDOWN)
    package static let networkUnreachable = SystemError(rawValue: ENETUNREACH)
    package static let hostUnreachable = SystemError(rawValue: EHOSTUNREACH)
    package static let addressInUse = SystemError(rawValue: EADDRINUSE)
    package static let addressNotAvailable = SystemError(rawValue: EADDRNOTAVAIL)
    package static let connectionRefused = SystemError(rawValue: ECONNREFUSED)
    package static let connectionReset = SystemError(rawValue: ECONNRESET)
    package static let brokenPipe = SystemError(rawValue: EPIPE)
    package static let timedOut = SystemError(rawValue: ETIMEDOUT)
    package static let noMemory = SystemError(rawValue: ENOMEM)
    package static let notSupported = SystemError(rawValue: EOPNOTSUPP)
    package static let noBufferSpace = SystemError(rawValue: ENOBUFS)
    package static let noSpace = SystemError(rawValue: ENOSPC)
    package static let readOnly = SystemError(rawValue: EROFS)
    package static let fileExists = SystemError(rawValue: EEXIST)
    package static let fileTooLarge = SystemError(rawValue: EFBIG)
    package static let messageTooLong = SystemError(rawValue: EMSGSIZE)
    package static let badMessage = SystemError(rawValue: EBADMSG)

    /// The error of the last C call on the calling thread.
    package static var current: SystemError { SystemError(rawValue: errno) }
}

extension SystemError: CustomStringConvertible {
    /// The text of `strerror(3)`, for example `Permission denied`.
    package var description: String { String(cString: strerror(rawValue)) }
}

extension SystemError {
    /// Returns the result of a system call that reports an error as -1. A call that a signal interrupts is repeated.
    package static func check(_ call: () -> Int) throws(SystemError) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            let error = SystemError.current
            if error != .interrupted { throw error }
        }
    }
}
