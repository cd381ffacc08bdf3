/// A domain name (RFC 1035, section 3.1): labels of 1 to 63 bytes, at most 255 bytes in a message. ASCII letters are compared without case.
struct DNSName: Sendable {
    let labels: [[UInt8]]

    static let maximumLabel = 63
    static let maximumLength = 255

    /// Creates a name. Nil if a label is empty or too long, or if the name is too long.
    init?(labels: [[UInt8]]) {
        guard labels.allSatisfy({ (1...Self.maximumLabel).contains($0.count) }) else { return nil }
        guard labels.reduce(1, { $0 + $1.count + 1 }) <= Self.maximumLength else { return nil }
        self.labels = labels
    }

    /// Parses a name without escape sequences. A trailing dot is accepted.
    init?(_ text: String) {
        if text == "." || text.isEmpty {
            self.init(labels: [])
            return
        }
        let text = text.hasSuffix(".") ? text.dropLast() : text[...]
        self.init(
            labels: text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
        )
    }

    /// The name in a question, without compression.
    var bytes: [UInt8] {
        labels.flatMap { [UInt8($0.count)] + $0 } + [0]
    }
}

extension DNSName: Hashable {
    private var folded: [[UInt8]] {
        labels.map { $0.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 } }
    }

    static func == (one: DNSName, other: DNSName) -> Bool { one.folded == other.folded }

    func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

extension DNSName: CustomStringConvertible {
    /// The name without a trailing dot; `.` for the root. Bytes except letters, digits, hyphens and underscores are written as `\DDD`.
    var description: String {
        if labels.isEmpty { return "." }
        return labels.map { $0.map(Self.text).joined() }.joined(separator: ".")
    }

    private static func text(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            String(UnicodeScalar(byte))
        default:
            "\\" + (byte < 10 ? "00" : byte < 100 ? "0" : "") + String(byte)
        }
    }
}

/// The type of a record, with its number in the IANA registry.
struct DNSRecordType: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt16

    static let a = DNSRecordType(rawValue: 1)
    static let ns = DNSRecordType(rawValue: 2)
    static let cname = DNSRecordType(rawValue: 5)
    static let ptr = DNSRecordType(rawValue: 12)
    static let mx = DNSRecordType(rawValue: 15)
    static let txt = DNSRecordType(rawValue: 16)
    static let aaaa = DNSRecordType(rawValue: 28)
    static let srv = DNSRecordType(rawValue: 33)
    /// EDNS (RFC 6891).
    static let opt = DNSRecordType(rawValue: 41)
}

/// The response code of a server (RFC 1035, section 4.1.1). With EDNS it has twelve bits (RFC 6891).
struct DNSResponseCode: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt16

    static let noError = DNSResponseCode(rawValue: 0)
    static let formatError = DNSResponseCode(rawValue: 1)
    static let serverFailure = DNSResponseCode(rawValue: 2)
    static let nameError = DNSResponseCode(rawValue: 3)
    static let notImplemented = DNSResponseCode(rawValue: 4)
    static let refused = DNSResponseCode(rawValue: 5)
}

/// The flags and codes in the second word of a message (RFC 1035, section 4.1.1).
struct DNSFlags: OptionSet, Hashable, Sendable {
    let rawValue: UInt16

    static let response = DNSFlags(rawValue: 0x8000)
    static let truncated = DNSFlags(rawValue: 0x0200)
    static let recursionDesired = DNSFlags(rawValue: 0x0100)
    static let recursionAvailable = DNSFlags(rawValue: 0x0080)

    /// The operation code; 0 for a standard query (RFC 1035, OPCODE).
    var operation: UInt16 { rawValue >> 11 & 15 }
    /// The lower four bits of the response code.
    var code: UInt16 { rawValue & 15 }
}

/// The reason why bytes are not a DNS message.
enum DNSFault: String, Error, Hashable, Sendable {
    /// The bytes end too early.
    case short
    /// A compression pointer does not point backwards, or a label has an unknown type.
    case badLabel
    /// The name is longer than 255 bytes.
    case nameTooLong
    /// The data of a record does not have the length that its type requires.
    case badRecord
}

/// Reads a message from its first byte on. An attempt to read beyond its end is an error.
struct DNSReader {
    private let bytes: [UInt8]
    private(set) var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func byte() throws(DNSFault) -> UInt8 {
        guard index < bytes.count else { throw .short }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func word() throws(DNSFault) -> UInt16 {
        UInt16(try byte()) << 8 | UInt16(try byte())
    }

    mutating func longWord() throws(DNSFault) -> UInt32 {
        UInt32(try word()) << 16 | UInt32(try word())
    }

    mutating func take(_ count: Int) throws(DNSFault) -> ArraySlice<UInt8> {
        guard count >= 0, bytes.count - index >= count else { throw .short }
        defer { index += count }
        return bytes[index..<(index + count)]
    }

    /// Reads a name. Each compression pointer must point further back, so there is no loop (RFC 1035, section 4.1.4).
    mutating func name() throws(DNSFault) -> DNSName {
        var (labels, length): ([[UInt8]], Int) = ([], 1)
        var (place, front) = (index, index)
        var end: Int?
        var pointers = 0
        while true {
            guard place < bytes.count else { throw .short }
            let count = Int(bytes[place])
            switch count {
            case 0:
                index = end ?? place + 1
                guard let name = DNSName(labels: labels) else { throw .nameTooLong }
                return name
            case 1...DNSName.maximumLabel:
                guard bytes.count - place > count else { throw .short }
                length += count + 1
                guard length <= DNSName.maximumLength else { throw .nameTooLong }
                labels.append(Array(bytes[(place + 1)...(place + count)]))
                place += count + 1
            case 0xc0...:
                guard place + 1 < bytes.count else { throw .short }
                let target = (count & 0x3f) << 8 | Int(bytes[place + 1])
                pointers += 1
                // Chains of pointers cost time. A name has no use for more pointers than labels.
                guard target < front, pointers <= DNSName.maximumLength / 2 else { throw .badLabel }
                end = end ?? place + 2
                (place, front) = (target, target)
            default:
                throw .badLabel
            }
        }
    }
}
