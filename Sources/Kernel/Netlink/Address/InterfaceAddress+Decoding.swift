import CLinux
import LinuxPrimitives

extension InterfaceAddress {
    /// Reads an RTM_NEWADDR body; nil when it is truncated or of a family other than IPv4 and IPv6.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(ifaddrmsg.self, at: 0), AddressFamily(rawValue: head.ifa_family) != nil else {
            return nil
        }
        var address: WireAddress?
        var local: WireAddress?
        // The head has room for eight flags only.
        var flags = UInt32(head.ifa_flags)
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<ifaddrmsg>.size)) {
            switch type {
            case IFA_ADDRESS: address = WireAddress(bytes: value)
            case IFA_LOCAL: local = WireAddress(bytes: value)
            case IFA_FLAGS: flags = value.word ?? flags
            default: break
            }
        }
        // With a peer IFA_ADDRESS is the peer's.
        guard let own = local ?? address else { return nil }
        self.init(
            interface: head.ifa_index,
            address: own,
            prefixLength: head.ifa_prefixlen,
            flags: AddressFlags(rawValue: flags)
        )
    }
}
