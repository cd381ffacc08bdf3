/// An answer of HTTP/1.1 whose end is beyond doubt, as nearly all servers send it. It is read strictly: whatever is unusual (RFC 9112 has
/// much of that) is none, and for a parser that knows all of it. What is read here, that parser reads in the same way.
struct PlainAnswer: Hashable, Sendable {
    let status: Int
    /// By their names in lower case; each once.
    let fields: [String: String]

    /// How many bytes are looked at: a head, and as much of a body as is read of a target.
    static let limit = 8 * 1024

    /// - Parameter bytes: all that came so far, from a stranger.
    /// - Returns: nil where that is not the whole of a plain answer.
    init?(_ bytes: [UInt8]) {
        var reader = LineReader(bytes)
        guard let line = reader.next(), let status = Self.status(line) else { return nil }
        var fields: [String: String] = [:]
        while true {
            guard let line = reader.next() else { return nil }
            if line.isEmpty { break }
            guard let (name, value) = Self.field(line), fields.updateValue(value, forKey: name) == nil else {
                return nil
            }
        }
        (self.status, self.fields) = (status, fields)
        guard fields["transfer-encoding"] == nil, fields["upgrade"] == nil,
            isWhole(body: bytes.count - reader.position)
        else { return nil }
    }

    private func isWhole(body count: Int) -> Bool {
        if status == 204 || status == 304 { return count == 0 }
        guard let digits = fields["content-length"], digits.utf8.count <= 9,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let length = Int(digits)
        else { return false }
        return count == length || count < length && count >= WebLimits.enough(.target)
    }

    /// `HTTP/1.1 204 No Content`; of the answers before the answer none.
    private static func status(_ line: ArraySlice<UInt8>) -> Int? {
        let start = line.startIndex
        guard line.count >= 13, line.starts(with: "HTTP/1.".utf8), [0x30, 0x31].contains(line[start + 7]),
            line[start + 8] == 0x20, line[start + 12] == 0x20, line.allSatisfy(isVisible)
        else { return nil }
        let digits = line[(start + 9)..<(start + 12)]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let status = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return (200..<600).contains(status) ? status : nil
    }

    /// `Name: value`.
    private static func field(_ line: ArraySlice<UInt8>) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }),
            line[colon...].allSatisfy(isVisible)
        else { return nil }
        var value = line[(colon + 1)...]
        while value.first == 0x20 { value.removeFirst() }
        // Parsers differ about blanks at the end.
        guard value.last != 0x20 else { return nil }
        let name = line[..<colon].map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }

    /// Of ASCII, with the space.
    private static func isVisible(_ byte: UInt8) -> Bool { (0x20...0x7e).contains(byte) }

    /// Lines that end with CR and LF.
    private struct LineReader {
        private let bytes: [UInt8]
        /// Where the next line begins.
        private(set) var position = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// Nil where no whole line is left.
        mutating func next() -> ArraySlice<UInt8>? {
            guard let end = bytes[position...].firstIndex(of: 0x0a), end > position, bytes[end - 1] == 0x0d else {
                return nil
            }
            defer { position = end + 1 }
            return bytes[position..<(end - 1)]
        }
    }
}
