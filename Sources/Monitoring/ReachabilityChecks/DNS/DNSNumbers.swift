/// The type of a record, by its number of the registry of IANA.
package struct DNSRecordType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let a = DNSRecordType(rawValue: 1)
    package static let cname = DNSRecordType(rawValue: 5)
    package static let soa = DNSRecordType(rawValue: 6)
    package static let aaaa = DNSRecordType(rawValue: 28)
    /// EDNS (RFC 6891).
    package static let opt = DNSRecordType(rawValue: 41)
}

/// How a server ended a question (RFC 1035, section 4.1.1; with EDNS twelve bits, RFC 6891).
package struct DNSResponseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let noError = DNSResponseCode(rawValue: 0)
    package static let formatError = DNSResponseCode(rawValue: 1)
    package static let serverFailure = DNSResponseCode(rawValue: 2)
    package static let nameError = DNSResponseCode(rawValue: 3)
    package static let notImplemented = DNSResponseCode(rawValue: 4)
    package static let refused = DNSResponseCode(rawValue: 5)
}

/// The second word of a message (RFC 1035, section 4.1.1).
package struct DNSFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let response = DNSFlags(rawValue: 0x8000)
    package static let authoritative = DNSFlags(rawValue: 0x0400)
    package static let truncated = DNSFlags(rawValue: 0x0200)
    package static let recursionDesired = DNSFlags(rawValue: 0x0100)
    package static let recursionAvailable = DNSFlags(rawValue: 0x0080)
    package static let authenticData = DNSFlags(rawValue: 0x0020)

    /// 0 for a question (RFC 1035, OPCODE).
    package var operation: UInt16 { rawValue >> 11 & 15 }
    /// The lower four bits of the code.
    package var code: UInt16 { rawValue & 15 }
}
