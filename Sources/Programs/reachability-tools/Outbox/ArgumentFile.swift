import CommandLineSupport
import Glibc

/// Files that are named as arguments; `-` is standard input.
enum ArgumentFile {
    /// Every byte of a file, which may have `limit` of them.
    ///
    /// C counterpart: `read(2)`.
    static func bytes(_ path: String, limit: Int) throws(ExitMessage) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var (bytes, chunk): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 64 << 10))
        while true {
            let count = unsafe read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += chunk[..<count]
            } else if errno != EINTR {
                throw failure(path)
            }
            if bytes.count > limit {
                throw ExitMessage("cannot take \(name(path)): it has more than \(limit) bytes", .usage)
            }
        }
    }

    private static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

    private static func failure(_ path: String) -> ExitMessage {
        ExitMessage("cannot read \(name(path)): \(unsafe String(cString: strerror(errno)))", .noInput)
    }
}
