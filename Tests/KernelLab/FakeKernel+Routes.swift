import LinuxSupport
import Netlink

extension FakeKernel {
    /// Adds a route. No route with the same prefix and metric may exist, except with `replacing`.
    ///
    /// - Parameters:
    ///   - destination: A prefix, an address, or `default`. `default` has the family of the router, and is IPv4
    ///     without a router. `0.0.0.0/0` and `::/0` are unambiguous.
    ///   - gateway: The router, which must be on a link; nil for destinations on the link itself. An IPv4 route may
    ///     have an IPv6 router.
    ///   - link: The name of the link, which must be up; nil for the link of the router.
    ///   - metric: The metric; lower numbers are preferred. If nil, 0 for IPv4 and 1024 for IPv6.
    ///   - table: The routing table; 254 is the main table.
    ///   - kind: The type of the route.
    ///   - source: The source address of packets.
    ///   - lifetime: The lifetime of the route; only for IPv6. After its end lookups fail without a message. The
    ///     message of the removal follows 30 seconds later.
    ///   - replacing: Whether the route replaces the one with the same prefix and metric in one step.
    public func addRoute(
        _ destination: String,
        via gateway: String? = nil,
        on link: String? = nil,
        metric: UInt32? = nil,
        table: UInt32 = 254,
        kind: RouteKind = .unicast,
        source: String? = nil,
        expiresAfter lifetime: Duration? = nil,
        replacing: Bool = false
    ) {
        place(
            destination,
            [Hop(via: gateway, on: link)],
            metric: metric,
            table: table,
            kind: kind,
            source: source,
            lifetime: lifetime,
            replacing ? .replace : .add
        )
    }

    /// Adds a route with several hops.
    public func addRoute(
        _ destination: String,
        hops: [Hop],
        metric: UInt32? = nil,
        table: UInt32 = 254,
        source: String? = nil
    ) {
        place(destination, hops, metric: metric, table: table, kind: .unicast, source: source, lifetime: nil, .add)
    }

    /// Adds a route that uses a next hop object. `default` is IPv4.
    public func addRoute(_ destination: String, nextHop: UInt32, metric: UInt32? = nil, table: UInt32 = 254) {
        change { network throws(Refusal) in
            let prefix = try Prefix(parsing: destination)
            let request = RouteRequest(prefix: prefix, table: table, metric: metric, kind: .unicast, object: nextHop)
            try network.place(request, .add)
        }
    }

    /// Adds a route after those with the same prefix and metric. IPv6 merges their hops into one route.
    public func appendRoute(
        _ destination: String,
        via gateway: String,
        on link: String? = nil,
        metric: UInt32? = nil,
        table: UInt32 = 254
    ) {
        place(
            destination,
            [Hop(via: gateway, on: link)],
            metric: metric,
            table: table,
            kind: .unicast,
            source: nil,
            lifetime: nil,
            .append
        )
    }

    /// Removes the first matching route. Of several matching routes the one with the lowest metric is removed.
    public func removeRoute(
        _ destination: String,
        via gateway: String? = nil,
        on link: String? = nil,
        metric: UInt32? = nil,
        table: UInt32 = 254,
        kind: RouteKind = .unicast
    ) {
        change { network throws(Refusal) in
            let request = try FakeKernel.request(
                destination,
                [Hop(via: gateway, on: link)],
                metric: metric,
                table: table,
                kind: kind,
                source: nil
            )
            try network.removeRoute(request)
        }
    }

    private func place(
        _ destination: String,
        _ hops: [Hop],
        metric: UInt32?,
        table: UInt32,
        kind: RouteKind,
        source: String?,
        lifetime: Duration?,
        _ placement: FakeNetwork.Placement
    ) {
        let end = lifetime.map { clock.monotonic + $0 }
        change { network throws(Refusal) in
            var request = try FakeKernel.request(
                destination,
                hops,
                metric: metric,
                table: table,
                kind: kind,
                source: source
            )
            request.end = end
            try network.place(request, placement)
        }
        guard let lifetime else { return }
        schedule(after: lifetime + .seconds(30)) { kernel in
            let now = kernel.clock.monotonic
            kernel.change { $0.collectEndedRoutes(at: now) }
        }
    }

    private static func request(
        _ destination: String,
        _ hops: [Hop],
        metric: UInt32?,
        table: UInt32,
        kind: RouteKind,
        source: String?
    ) throws(Refusal) -> RouteRequest {
        var parsed: [(gateway: WireAddress?, link: String?)] = []
        for hop in hops where hop.gateway != nil || hop.link != nil {
            parsed.append((try hop.gateway.map { text throws(Refusal) in try address(text) }, hop.link))
        }
        let family = parsed.compactMap(\.gateway?.family).first
        let source = try source.map { text throws(Refusal) in try address(text) }
        let prefix = try Prefix(parsing: destination, family: family)
        return RouteRequest(
            prefix: prefix,
            table: table,
            metric: metric,
            kind: kind.kind,
            hops: parsed,
            source: source
        )
    }

    static func address(_ text: String) throws(Refusal) -> WireAddress {
        guard let address = WireAddress(text) else { throw Refusal("\"\(text)\" is no address") }
        return address
    }
}

extension FakeKernel {
    /// The type of a route.
    public enum RouteKind: Hashable, Sendable, CaseIterable {
        /// Packets are sent.
        case unicast
        /// Packets are delivered to this host.
        case local
        /// Packets are discarded, and programs receive EINVAL.
        case blackhole
        /// Packets are rejected, and programs receive EHOSTUNREACH.
        case unreachable
        /// Packets are rejected, and programs receive EACCES.
        case prohibit
        /// The lookup continues with the next rule.
        case throwing

        var kind: Netlink.RouteKind {
            switch self {
            case .unicast: .unicast
            case .local: .local
            case .blackhole: .blackhole
            case .unreachable: .unreachable
            case .prohibit: .prohibit
            case .throwing: .throwing
            }
        }
    }
}

extension FakeKernel {
    /// The action of a rule for matching packets.
    public enum RuleAction: Hashable, Sendable {
        /// The packets use a routing table; 254 is the main table.
        case lookUp(table: UInt32)
        /// Packets are discarded, and programs receive EINVAL.
        case blackhole
        /// Packets are rejected, and programs receive ENETUNREACH (EHOSTUNREACH with a route of this type).
        case unreachable
        /// Packets are rejected, and programs receive EACCES.
        case prohibit

        var action: FakeNetwork.Rule.Action {
            switch self {
            case .lookUp(let table): .lookUp(table)
            case .blackhole: .fail(.invalidArgument)
            case .unreachable: .fail(.networkUnreachable)
            case .prohibit: .fail(.accessDenied)
            }
        }
    }
}
