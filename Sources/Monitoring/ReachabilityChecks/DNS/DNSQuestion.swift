/// A question for the records of one name and type, class IN, with recursion (RFC 1035).
package struct DNSQuestion: Hashable, Sendable {
    package var identifier: UInt16
    package var name: DNSName
    package var type: DNSRecordType
    /// Whether it has EDNS (RFC 6891), without which nobody says why a name is blocked; a few old servers do not understand that.
    package var hasExtensions = true

    /// What an answer over UDP may have, so that no router must cut it into pieces.
    package static let payloadSize: UInt16 = 1232

    package init(_ name: DNSName, _ type: DNSRecordType, identifier: UInt16) {
        self.name = name
        self.type = type
        self.identifier = identifier
    }

    /// The message, as a datagram has it.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        let flags = DNSFlags.recursionDesired.rawValue
        for word in [identifier, flags, 1, 0, 0, hasExtensions ? 1 : 0] { bytes.append(word: word) }
        bytes += name.bytes
        bytes.append(word: type.rawValue)
        bytes.append(word: 1)
        guard hasExtensions else { return bytes }
        bytes.append(0)
        for word in [DNSRecordType.opt.rawValue, Self.payloadSize, 0, 0, 0] { bytes.append(word: word) }
        return bytes
    }
}

extension [UInt8] {
    mutating func append(word: UInt16) {
        append(UInt8(word >> 8))
        append(UInt8(word & 0xff))
    }
}
