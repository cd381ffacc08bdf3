import Glibc

/// A file that has no name and is gone with this value: what reads files is given its path.
struct ScratchFile: ~Copyable {
    private let descriptor: Int32

    var path: String { "/proc/self/fd/\(descriptor)" }

    init(_ bytes: [UInt8]) {
        var name = Array("/tmp/damaged-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0, unlink(name) == 0, write(descriptor, bytes, bytes.count) == bytes.count else {
            fatalError("no file can be made: error \(errno)")
        }
    }

    deinit {
        close(descriptor)
    }
}
