import CommandLineSupport
import Glibc

/// Files that are named as arguments; `-` is standard input.
enum InputFile {
    static func text(_ path: String) throws(ExitMessage) -> String {
        String(decoding: try bytes(path), as: UTF8.self).replacing("\r\n", with: "\n")
    }

    /// C counterpart: `read(2)`.
    static func bytes(_ path: String) throws(ExitMessage) -> [UInt8] {
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
        }
    }

    private static func failure(_ path: String) -> ExitMessage {
        ExitMessage("cannot read \(path): \(unsafe String(cString: strerror(errno)))", .noInput)
    }
}
