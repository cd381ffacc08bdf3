import Glibc

/// The only owner of a file descriptor; letting go closes it.
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

    /// Gives the number away; whoever takes it closes it.
    package consuming func release() -> CInt {
        let number = number
        discard self
        return number
    }

    /// Opens `path` for reading. C counterpart: `open(2)` with O_RDONLY and O_CLOEXEC.
    package static func open(_ path: String) throws(SystemError) -> Descriptor {
        let number = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .current }
        return Descriptor(owning: number)
    }
}
