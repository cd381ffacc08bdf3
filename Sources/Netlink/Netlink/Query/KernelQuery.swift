import CLinux
package import LinuxSupport

/// A query to the kernel. Its answer has the same name in ``KernelResponse``.
///
/// A query for one link is a barrier: all changes that the kernel announced before it are visible in every later
/// answer.
package enum KernelQuery: Hashable, Sendable {
    /// RTM_GETLINK by index.
    case link(UInt32)
    /// RTM_GETLINK by name.
    case linkNamed(String)
    /// All links of the namespace.
    case links
    /// RTM_GETROUTE: the route that a packet would take.
    case route(RouteQuery)
    /// All IPv4 and IPv6 addresses of the namespace (RTM_GETADDR).
    case addresses
    /// The policy rules of a family, in the order of evaluation (RTM_GETRULE).
    case rules(AddressFamily)
    /// All routes of all tables that cover an address, including those that no lookup finds. The kernel dumps all
    /// tables, so this is only used for explanations.
    case routesCovering(WireAddress)
    /// The setting that disables IPv6 on a link (`net.ipv6.conf.NAME.disable_ipv6`).
    case isIPv6Disabled(link: UInt32)
    /// RTM_GETNEIGH by address and link (Linux 5.0).
    case neighbour(WireAddress, link: UInt32)
    /// The properties of the device behind a link, from generic netlink, ethtool and sysfs.
    indirect case hardware(Link)
    /// The default destinations of a VXLAN device's forwarding table (RTM_GETNEIGH of AF_BRIDGE).
    case forwarding(link: UInt32)
    /// The peers of a WireGuard interface (generic netlink), or the far ends of the policies of an xfrm interface
    /// (NETLINK_XFRM).
    case peers(link: UInt32)

    /// A Boolean value that indicates whether the query is answered by other sockets than route netlink.
    var isForDevice: Bool {
        switch self {
        case .hardware, .peers: true
        default: false
        }
    }

    /// A Boolean value that indicates whether the answer is a dump, or comes from other sockets.
    var isDump: Bool {
        switch self {
        case .links, .addresses, .rules, .routesCovering, .forwarding, .hardware, .peers: true
        case .link, .linkNamed, .route, .isIPv6Disabled, .neighbour: false
        }
    }
}

/// The kernel's answer to a ``KernelQuery``.
package enum KernelResponse: Hashable, Sendable {
    /// The link; nil if it does not exist.
    indirect case link(Link?)
    case links([Link])
    /// The route, or the error with which `connect(2)` would fail.
    case route(Result<Route, SystemError>)
    case addresses([InterfaceAddress])
    /// The policy rules; empty if the kernel has none.
    case rules([RoutingRule])
    case tableRoutes([TableRoute])
    /// Whether IPv6 is disabled; nil if the kernel does not report it.
    case isIPv6Disabled(Bool?)
    /// The neighbour; nil if there is no entry, or if the kernel is too old for the query.
    case neighbour(Neighbour?)
    /// Unknown properties are nil.
    indirect case hardware(LinkHardware)
    case forwarding([TunnelFarEnd])
    /// The far ends; nil if this process is not permitted to read them, or if the outer packets travel in another network namespace.
    case peers([TunnelFarEnd]?)
}

/// The content of an answer for a caller that knows its query. An answer to another query has no content.
extension KernelResponse {
    package var link: Link? { if case .link(let link) = self { link } else { nil } }
    package var links: [Link] { if case .links(let links) = self { links } else { [] } }
    package var route: Result<Route, SystemError> {
        if case .route(let route) = self { route } else { .failure(.badMessage) }
    }
    package var addresses: [InterfaceAddress] { if case .addresses(let addresses) = self { addresses } else { [] } }
    package var rules: [RoutingRule] { if case .rules(let rules) = self { rules } else { [] } }
    package var tableRoutes: [TableRoute] { if case .tableRoutes(let routes) = self { routes } else { [] } }
    package var isIPv6Disabled: Bool? { if case .isIPv6Disabled(let isDisabled) = self { isDisabled } else { nil } }
    package var neighbour: Neighbour? { if case .neighbour(let neighbour) = self { neighbour } else { nil } }
    package var forwarding: [TunnelFarEnd] { if case .forwarding(let ends) = self { ends } else { [] } }
    package var peers: [TunnelFarEnd]? { if case .peers(let ends) = self { ends } else { nil } }
    package var hardware: LinkHardware { if case .hardware(let hardware) = self { hardware } else { LinkHardware() } }
}

/// Answers queries about one network namespace: the kernel, or a fake.
package protocol KernelResponder {
    /// Returns one answer per query, in the same order. A query about a link is a barrier: a change whose notification
    /// was received before is visible in every later answer.
    func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse]
}

extension KernelResponder {
    /// Returns the answer to a single query.
    package func answer(to query: KernelQuery) throws(NetlinkError) -> KernelResponse {
        guard let answer = try self.query([query]).first else { throw NetlinkError("query the kernel", .badMessage) }
        return answer
    }
}

extension [KernelQuery] {
    /// Returns one answer for each query, from route netlink or from the device.
    package func answers(
        netlink: ([KernelQuery]) throws(NetlinkError) -> [KernelResponse],
        hardware: (Link) -> LinkHardware,
        peers: (UInt32) -> [TunnelFarEnd]?
    ) throws(NetlinkError) -> [KernelResponse] {
        guard contains(where: \.isForDevice) else { return try netlink(self) }
        var answers = try netlink(filter { !$0.isForDevice })[...]
        return map { query in
            switch query {
            case .hardware(let link): .hardware(hardware(link))
            case .peers(let index): .peers(peers(index))
            default: answers.removeFirst()
            }
        }
    }
}

// MARK: - Encoding

extension RequestBuilder {
    /// Appends the request of a query, for a single object or a dump.
    mutating func append(_ query: KernelQuery, sequence: UInt32) {
        let flags = query.isDump ? NLM_F_DUMP : 0
        switch query {
        case .link(let index), .isIPv6Disabled(let index): append(link: index, flags: flags, sequence: sequence)
        case .linkNamed(let name): append(link: 0, name: name, flags: flags, sequence: sequence)
        case .links: append(link: 0, flags: flags, sequence: sequence)
        case .route(let query): append(query, sequence: sequence)
        case .addresses:
            begin(.getAddress, flags: flags, sequence: sequence)
            append(ifaddrmsg())
        case .rules(let family):
            begin(.getRule, flags: flags, sequence: sequence)
            var head = fib_rule_hdr()
            head.family = family.rawValue
            append(head)
        case .routesCovering(let address):
            begin(.getRoute, flags: flags, sequence: sequence)
            var head = rtmsg()
            head.rtm_family = address.family.rawValue
            append(head)
        case .neighbour(let address, let link):
            begin(.getNeighbour, flags: flags, sequence: sequence)
            var head = ndmsg()
            head.ndm_family = address.family.rawValue
            head.ndm_ifindex = Int32(bitPattern: link)
            append(head)
            append(attribute: Int(NDA_DST), address)
        case .forwarding(let link):
            begin(.getNeighbour, flags: flags, sequence: sequence)
            // For an AF_BRIDGE dump, the kernel reads the device from an ifinfomsg.
            var head = ifinfomsg()
            head.ifi_family = UInt8(AF_BRIDGE)
            head.ifi_index = Int32(bitPattern: link)
            append(head)
        case .hardware, .peers: preconditionFailure("\(query) is not a query for route netlink")
        }
    }

    private mutating func append(link index: UInt32, name: String? = nil, flags: Int32, sequence: UInt32) {
        begin(.getLink, flags: flags, sequence: sequence)
        var head = ifinfomsg()
        head.ifi_index = Int32(bitPattern: index)
        append(head)
        if let name {
            // The kernel finds alternative names by either attribute. Only IFLA_ALT_IFNAME may be long (Linux 5.5).
            let isLong = name.utf8.count > InterfaceName.longestName
            append(attribute: isLong ? IFLA_ALT_IFNAME : IFLA_IFNAME, text: name)
        }
        // Statistics and VF lists are long and not used.
        append(attribute: IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
    }
}

// MARK: - Decoding

extension KernelResponse {
    /// Creates the answer to a query with a single answer from the body of the message or from the error; nil if no
    /// message arrived.
    ///
    /// If an object does not exist, or the kernel does not report it, the answer contains nil. Any other error is
    /// thrown.
    init(_ answer: Result<UnsafeRawBufferPointer, SystemError>?, to query: KernelQuery) throws(NetlinkError) {
        switch query {
        case .route:
            let answer = answer ?? .failure(.badMessage)
            self = .route(answer.flatMap { Route(body: $0).map(Result.success) ?? .failure(.badMessage) })
        case .link, .linkNamed: self = .link(try Self.decoded(answer, Link.init(body:)))
        case .neighbour: self = .neighbour(try? Self.decoded(answer, Neighbour.init(body:)))
        case .isIPv6Disabled: self = .isIPv6Disabled(try? Self.decoded(answer, Self.isIPv6Disabled))
        case .links, .addresses, .rules, .routesCovering, .forwarding, .hardware, .peers:
            preconditionFailure("\(query) is not a query with a single answer")
        }
    }

    /// Creates the answer to a query that is answered by a dump; nil for any other query.
    ///
    /// - Parameter socket: The socket that performs the dump.
    init?(dumpOf query: KernelQuery, from socket: inout QuerySocket) throws(NetlinkError) {
        switch query {
        case .links: self = .links(try socket.dump(query, as: Link.init(body:)))
        case .addresses: self = .addresses(try socket.dump(query, as: InterfaceAddress.init(body:)))
        case .rules: self = .rules(try socket.dump(query, as: RoutingRule.init(body:)))
        case .routesCovering(let address):
            self = .tableRoutes(try socket.dump(query) { TableRoute(body: $0, covering: address) })
        case .forwarding(let link):
            self = .forwarding(try socket.dump(query) { TunnelFarEnd(forwarding: $0, of: link) })
        case .link, .linkNamed, .route, .isIPv6Disabled, .neighbour, .hardware, .peers: return nil
        }
    }

    private static func decoded<Value>(
        _ answer: Result<UnsafeRawBufferPointer, SystemError>?,
        _ decode: (UnsafeRawBufferPointer) -> Value?
    ) throws(NetlinkError) -> Value? {
        switch answer {
        case .success(let body)?: return decode(body)
        case nil, .failure(.noDevice)?, .failure(.noEntry)?: return nil
        case .failure(let cause)?: throw NetlinkError("query a link", cause)
        }
    }

    /// C counterpart: IFLA_INET6_CONF in IFLA_AF_SPEC of RTM_GETLINK.
    private static func isIPv6Disabled(_ body: UnsafeRawBufferPointer) -> Bool? {
        // DEVCONF_DISABLE_IPV6 of <linux/ipv6.h>, IFLA_INET6_CONF of <linux/if_link.h>.
        let (disabled, settings) = (26, 2)
        return Attributes(body.bytes(from: MemoryLayout<ifinfomsg>.size)).value(of: Int(IFLA_AF_SPEC))
            .flatMap { Attributes($0).value(of: Int(AF_INET6)) }
            .flatMap { Attributes($0).value(of: settings) }
            .flatMap { $0.load(Int32.self, at: disabled * MemoryLayout<Int32>.size) }
            .map { $0 != 0 }
    }
}

extension TableRoute {
    /// Decodes an RTM_NEWROUTE body; nil if the route does not cover the address.
    fileprivate init?(body: UnsafeRawBufferPointer, covering address: WireAddress) {
        guard let route = Route(body: body), let prefix = AddressPrefix(routeBody: body), prefix.contains(address)
        else { return nil }
        self.init(prefix: prefix, route: route)
    }
}
