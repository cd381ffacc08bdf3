import CLinux
import CNetlink
import LinuxSupport

extension InterfaceAddress {
    /// Reads an RTM_NEWADDR body; nil when it is truncated or of a family other than IPv4 and IPv6.
    ///
    /// C counterpart: `rtnl_addr`.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(ifaddrmsg.self, at: 0), let family = AddressFamily(rawValue: head.ifa_family),
            let object = RouteObject(.newAddress, body: body)
        else { return nil }
        // The machine's own also where there is a peer, of which IFA_ADDRESS is then.
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
