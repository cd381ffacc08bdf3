import CLinux
import CNetlink
package import LinuxSupport

/// An address of an interface.
///
/// C counterpart: `ifaddrmsg` and `IFA_*` of `<linux/if_addr.h>`, `rtnetlink(7)`.
package struct InterfaceAddress: Hashable, Sendable {
    /// The index of the interface.
    package var interface: UInt32
    /// The address of this machine (IFA_LOCAL, or IFA_ADDRESS if there is no peer).
    package var address: WireAddress
    /// The length of the prefix that is on the link, in bits.
    package var prefixLength: UInt8
    package var flags: AddressFlags
    /// The scope in which the address is valid.
    package var scope: AddressScope

    package init(
        interface: UInt32,
        address: WireAddress,
        prefixLength: UInt8,
        flags: AddressFlags = [],
        scope: AddressScope = .universe
    ) {
        self.interface = interface
        self.address = address
        self.prefixLength = prefixLength
        self.flags = flags
        self.scope = scope
    }

    /// A Boolean value that indicates whether hosts beyond a router cannot reply to the address, as for link-local
    /// addresses (RFC 3927, RFC 4291).
    ///
    /// Some hosts have an address of 169.254.0.0/16 that their router translates: containers of Azure App Service and
    /// AWS Lambda, virtual machines of Firecracker. Such an address has a scope beyond the link. Normal link-local
    /// addresses are configured with link scope.
    package var isLinkLocal: Bool {
        address.isLinkLocal && (address.family == .ipv6 || scope.rawValue >= AddressScope.link.rawValue)
    }

    /// A Boolean value that indicates whether packets may use the address as their source: no duplicate is known, and
    /// duplicate address detection permits it.
    package var isUsable: Bool {
        if flags.contains(.detectionFailed) { return false }
        return !flags.contains(.tentative) || flags.contains(.optimistic)
    }
}

extension InterfaceAddress: CustomStringConvertible {
    /// The address and the length of its prefix, for example `192.0.2.7/24`.
    package var description: String { "\(address)/\(prefixLength)" }
}

/// The scope in which an address is valid.
///
/// C counterpart: `RT_SCOPE_*` of `<linux/rtnetlink.h>`.
package struct AddressScope: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let universe = AddressScope(rawValue: 0)
    package static let link = AddressScope(rawValue: 253)
    package static let host = AddressScope(rawValue: 254)
}

/// Flags of an address of an interface.
///
/// C counterpart: `IFA_F_*` of `<linux/if_addr.h>`.
package struct AddressFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// IPv4: the interface has an earlier address in the same prefix (IFA_F_SECONDARY). IPv6: a temporary address for
    /// privacy (IFA_F_TEMPORARY, the same bit).
    package static let secondary = AddressFlags(rawValue: 0x01)
    /// The address may be used during duplicate address detection (IFA_F_OPTIMISTIC, RFC 4429).
    package static let optimistic = AddressFlags(rawValue: 0x04)
    /// Duplicate address detection has found another host with the address (IFA_F_DADFAILED, RFC 4862).
    package static let detectionFailed = AddressFlags(rawValue: 0x08)
    /// The preferred lifetime of the address is over (IFA_F_DEPRECATED, RFC 4862).
    package static let deprecated = AddressFlags(rawValue: 0x20)
    /// Duplicate address detection is in progress (IFA_F_TENTATIVE, RFC 4862).
    package static let tentative = AddressFlags(rawValue: 0x40)
}

extension InterfaceAddress {
    /// Decodes an RTM_NEWADDR body; nil if it is truncated or of a family other than IPv4 and IPv6.
    ///
    /// C counterpart: `rtnl_addr`.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(ifaddrmsg.self, at: 0), let family = AddressFamily(rawValue: head.ifa_family),
            let object = RouteObject(.newAddress, body: body)
        else { return nil }
        // The local address, also if there is a peer. IFA_ADDRESS is then the peer's address.
        let (own, flags) = object.read {
            (WireAddress(bytes: UnsafeRawBufferPointer(rtnl_addr_get_local($0))), rtnl_addr_get_flags($0))
        }
        guard let own, own.family == family else { return nil }
        self.init(
            interface: head.ifa_index,
            address: own,
            prefixLength: head.ifa_prefixlen,
            flags: AddressFlags(rawValue: flags),
            scope: AddressScope(rawValue: head.ifa_scope)
        )
    }
}
