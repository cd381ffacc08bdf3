/// The frames of a file, one after the other, each checked.
struct RecordingFrames {
    /// What is wrong with a frame.
    enum Failure: Error, Hashable, CustomStringConvertible {
        case cutOff
        case tooLong
        case wrongChecksum
        case unknownKind(UInt8)

        var description: String {
            switch self {
            case .cutOff: "the record there is cut off"
            case .tooLong: "the record there is too long to be one"
            case .wrongChecksum: "the record there has another checksum"
            case .unknownKind(let kind): "there is no kind \(kind) of records"
            }
        }
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Where the next frame begins in the file.
    var offset: Int { rest.startIndex }

    /// The next frame; nil at the end of the file. Nothing follows a failure.
    mutating func next() -> Result<(Record.Kind, ArraySlice<UInt8>), Failure>? {
        if rest.isEmpty { return nil }
        do throws(Failure) {
            return .success(try take())
        } catch {
            return .failure(error)
        }
    }

    private mutating func take() throws(Failure) -> (Record.Kind, ArraySlice<UInt8>) {
        var decoder = ByteDecoder(rest)
        let (kind, length): (UInt8, UInt64)
        do throws(ByteDecoder.Malformed) {
            (kind, length) = (try decoder.byte(), try decoder.number())
        } catch {
            throw .cutOff
        }
        guard length <= RecordingEncoder.payloadLimit else { throw .tooLong }
        guard decoder.rest.count >= Int(length) + 4 else { throw .cutOff }
        let payload = decoder.rest.prefix(Int(length))
        let sum = decoder.rest[payload.endIndex..<(payload.endIndex + 4)].reversed().reduce(UInt32(0)) {
            $0 << 8 | UInt32($1)
        }
        guard Checksum.of(rest[..<payload.endIndex]) == sum else { throw .wrongChecksum }
        guard let kind = Record.Kind(rawValue: kind) else { throw .unknownKind(kind) }
        rest = rest[(payload.endIndex + 4)...]
        return (kind, payload)
    }
}

/// CRC-32C: the polynomial of Castagnoli, reflected, as iSCSI (RFC 3720, appendix B.4), ext4 and Btrfs use it. It is there to
/// find damage, not forgery.
enum Checksum {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82f6_3b78 }
    }

    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { value, byte in table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    }
}
