/// An ICMP or ICMPv6 echo (RFC 792, RFC 4443 section 4). The identifier and the checksum are the kernel's.
struct EchoMessage {
    static let headerSize = 8

    let isReply: Bool
    let sequence: UInt16
    /// The first bytes of the payload; nil where they are not there.
    let nonce: UInt64?

    /// A request or a reply, as it came or as an error quotes it.
    init?(_ bytes: UnsafeRawBufferPointer, _ family: AddressFamily) {
        guard let type = bytes.load(UInt8.self, at: 0), let sequence = bytes.load(UInt16.self, at: 6) else {
            return nil
        }
        switch (family, type) {
        case (.ipv4, 0), (.ipv6, 129): isReply = true
        case (.ipv4, 8), (.ipv6, 128): isReply = false
        default: return nil
        }
        self.sequence = UInt16(bigEndian: sequence)
        nonce = bytes.load(UInt64.self, at: Self.headerSize)
    }

    /// Writes a request that fills the memory.
    static func write(
        _ sequence: UInt16,
        _ nonce: UInt64,
        _ family: AddressFamily,
        to memory: UnsafeMutableRawBufferPointer
    ) {
        for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: index) }
        memory[0] = family == .ipv4 ? 8 : 128
        for index in 1..<6 { memory[index] = 0 }
        memory.storeBytes(of: sequence.bigEndian, toByteOffset: 6, as: UInt16.self)
        memory.storeBytes(of: nonce, toByteOffset: headerSize, as: UInt64.self)
    }
}
