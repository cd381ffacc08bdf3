import NIOCore

/// Follows the records of TLS as they come in: each says at its beginning how long it is (RFC 8446, section 5.1), and must be there as a
/// whole before anything of it can be read.
struct RecordSizes {
    private static let headerSize = 5

    private var header: [UInt8] = []
    /// Of the record that comes in.
    private var rest = 0

    /// - Returns: the length of the longest record that begins in the bytes.
    mutating func take(_ bytes: ByteBufferView) -> Int {
        var (bytes, longest) = (bytes[...], 0)
        while !bytes.isEmpty {
            let skipped = min(rest, bytes.count)
            bytes = bytes.dropFirst(skipped)
            rest -= skipped
            let part = bytes.prefix(Self.headerSize - header.count)
            header += part
            bytes = bytes.dropFirst(part.count)
            guard header.count == Self.headerSize else { continue }
            rest = Int(header[3]) << 8 | Int(header[4])
            header = []
            longest = max(longest, rest)
        }
        return longest
    }
}
