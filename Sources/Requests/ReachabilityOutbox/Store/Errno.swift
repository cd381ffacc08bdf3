import Glibc

/// An error number of the system.
///
/// C counterpart: `errno(3)`.
struct Errno: Error, CustomStringConvertible {
    let number: CInt

    static var current: Errno { Errno(number: errno) }

    /// The system's own words.
    var description: String { unsafe String(cString: strerror(number)) }

    /// The same as an error of an outbox.
    func error(opening file: String) -> OutboxError {
        [ENOSPC, EDQUOT, EFBIG].contains(number)
            ? .diskFull(file: file) : .cannotOpen(file: file, cause: description)
    }
}
