package import LinuxSupport

/// A record of an answer, as far as probes read it.
package struct DNSRecord: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// A or AAAA.
        case address(WireAddress)
        case canonicalName(DNSName)
        /// How long an absence may be remembered, in seconds: SOA's MINIMUM (RFC 2308).
        case authority(minimum: UInt32)
        case other(DNSRecordType)
    }

    package let name: DNSName
    /// In seconds.
    package let timeToLive: UInt32
    package let content: Content
}

extension DNSRecord {
    init(
        _ name: DNSName,
        _ type: DNSRecordType,
        timeToLive: UInt32,
        length: Int,
        _ reader: inout DNSReader
    ) throws(DNSFault) {
        let start = reader.index
        let content: Content
        switch type {
        case .a, .aaaa:
            guard length == (type == .a ? 4 : 16), let address = WireAddress(bytes: try reader.take(length)) else {
                throw .badRecord
            }
            content = .address(address)
        case .cname:
            content = .canonicalName(try reader.name())
        case .soa:
            _ = try reader.name()
            _ = try reader.name()
            _ = try reader.take(16)
            content = .authority(minimum: try reader.longWord())
        default:
            _ = try reader.take(length)
            content = .other(type)
        }
        guard reader.index == start + length else { throw .badRecord }
        self.init(name: name, timeToLive: timeToLive, content: content)
    }
}
