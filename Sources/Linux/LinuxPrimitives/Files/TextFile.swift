import Glibc

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
