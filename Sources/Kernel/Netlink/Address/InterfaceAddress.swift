package import LinuxPrimitives

/// An address of an interface.
///
/// C counterpart: `ifaddrmsg` and `IFA_*` of `<linux/if_addr.h>`, `rtnetlink(7)`.
package struct InterfaceAddress: Hashable, Sendable {
    /// The index of the link it belongs to.
    package var interface: UInt32
    /// The machine's own address (IFA_LOCAL, or IFA_ADDRESS where there is no peer).
    package var address: WireAddress
    /// Bits of the prefix that is on the link.
    package var prefixLength: UInt8
    package var flags: AddressFlags

    package init(interface: UInt32, address: WireAddress, prefixLength: UInt8, flags: AddressFlags = []) {
        self.interface = interface
        self.address = address
        self.prefixLength = prefixLength
        self.flags = flags
    }

    /// Whether packets may have it as their source: nobody else has it, as far as is known.
    package var isUsable: Bool {
        if flags.contains(.detectionFailed) { return false }
        return !flags.contains(.tentative) || flags.contains(.optimistic)
    }
}

extension InterfaceAddress: CustomStringConvertible {
    /// The address and the length of its prefix, for example `192.0.2.7/24`.
    package var description: String { "\(address)/\(prefixLength)" }
}
