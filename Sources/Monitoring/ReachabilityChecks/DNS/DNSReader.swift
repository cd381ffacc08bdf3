/// Why bytes are no DNS message that can be read.
package enum DNSFault: String, Error, Hashable, Sendable {
    /// It ends too early.
    case short
    /// A pointer that does not lead backwards, or a label of an unknown kind.
    case badLabel
    /// More than 255 bytes.
    case nameTooLong
    /// A record whose data is not as long as its type demands.
    case badRecord
}

/// Reads a message from its first byte on, and never beyond its last.
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

    /// Each pointer must lead to where no part of the name was read yet, further to the front: so there is no loop (RFC 1035, section
    /// 4.1.4).
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
                // Pointers that lead to pointers would cost time, and more of them than labels have no use.
                guard target < front, pointers <= DNSName.maximumLength / 2 else { throw .badLabel }
                end = end ?? place + 2
                (place, front) = (target, target)
            default:
                throw .badLabel
            }
        }
    }
}
