import Glibc

/// Reading of whole files.
///
/// C counterpart: `read(2)`, `access(2)`.
package enum InputFile {
    /// Whether a file is there and may be read (`access(2)` with R_OK).
    package static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

    /// Every byte of a file, at most `limit` of them (EFBIG).
    package static func read(_ path: String, limit: Int = 1 << 31) throws(SystemError) -> [UInt8] {
        let file = try Descriptor.open(path)
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = Glibc.read(file.number, &chunk, chunk.count)
            if count < 0, SystemError.current == .interrupted { continue }
            if count < 0 { throw .current }
            if count == 0 { return content }
            content.append(contentsOf: chunk[..<count])
            if content.count > limit { throw .fileTooLarge }
        }
    }
}

/// Reading of small system files.
///
/// C counterpart: `read(2)`.
package enum TextFile {
    /// The file's text, at most `limit` bytes of it; nil when it cannot be read.
    package static func read(_ path: String, limit: Int = 1 << 20) -> String? {
        guard let file = try? Descriptor.open(path) else { return nil }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while content.count < limit {
            let count = Glibc.read(file.number, &chunk, chunk.count)
            guard count > 0 else { break }
            content.append(contentsOf: chunk[..<count])
        }
        return String(decoding: content, as: UTF8.self)
    }
}
