/// Turns records into the bytes of a file: a head, then frames. See `docs/recording-format.md`.
package struct RecordingEncoder: Sendable {
    /// What a recording begins with. The first byte is no text, and the line end is one that careless copying changes.
    static let magic: [UInt8] = [0x89] + Array("NLREC\r\n".utf8)
    static let version: UInt8 = 1
    /// A payload longer than that is damage.
    static let payloadLimit = 16 << 20

    private var previous: Duration

    /// - Parameter header: what the file is of; its start is what times are counted from.
    package init(_ header: RecordingHeader) {
        previous = header.start.monotonic
    }

    /// The beginning of the file.
    package static func head(_ header: RecordingHeader) -> [UInt8] {
        var encoder = ByteEncoder()
        header.encode(to: &encoder)
        return magic + [version] + frame(.header, encoder.bytes)
    }

    /// The bytes of the next record. Times do not go back: an earlier one counts as that of the record before.
    package mutating func frame(_ record: Record) -> [UInt8] {
        var encoder = ByteEncoder()
        record.encode(to: &encoder, after: previous)
        previous = max(previous, record.time)
        return Self.frame(record.kind, encoder.bytes)
    }

    private static func frame(_ kind: Record.Kind, _ payload: [UInt8]) -> [UInt8] {
        var encoder = ByteEncoder()
        encoder.add(kind.rawValue)
        encoder.add(payload)
        let checksum = Checksum.of(encoder.bytes)
        return encoder.bytes + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
    }
}
