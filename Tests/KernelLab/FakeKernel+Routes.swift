import LinuxSupport
import Netlink

extension FakeKernel {
    /// Adds a route. There must be none of the same prefix and metric.
    ///
    /// - Parameters:
    ///   - destination: a prefix, an address, or `default`: of the router's family, IPv4 without a router. `0.0.0.0/0`
    ///     and `::/0` leave no doubt.
    ///   - gateway: the router, which must be on a link; nil for destinations on the link itself. An IPv4 route may
    ///     have an IPv6 router.
    ///   - link: the name of the link, which must be up; nil for the one the router is on.
    ///   - metric: the lower, the better; nil for the family's own: 0 for IPv4, 1024 for IPv6.
    ///   - table: the routing table; 254 is the main one.
    ///   - kind: what happens to packets.
    ///   - source: the source they get.
    ///   - lifetime: how long it lasts, IPv6 only. When it is over, lookups fail and nobody is notified; the message of
    ///     the removal comes 30 seconds later.
    public func addRoute(
        _ destination: String,
        via gateway: String? = nil,
        on link: String? = nil,
        metric: UInt32? = nil,
        table: UInt32 = 254,
        kind: RouteKind = .unicast,
        source: String? = nil,
        expiresAfter lifetime: Duration? = nil
    ) {
        place(
            destination,
            [Hop(via: gateway, on: link)],
            metric: metric,
            table: table,
            kind: kind,
            source: source,
            lifetime: lifetime,
            .add
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

    /// Adds a route that uses a next hop object. `default` is IPv4 here.
    public func addRoute(_ destination: String, nextHop: UInt32, metric: UInt32? = nil, table: UInt32 = 254) {
        change { network throws(Refusal) in
            let prefix = try Prefix(parsing: destination)
            let request = RouteRequest(prefix: prefix, table: table, metric: metric, kind: .unicast, object: nextHop)
            try network.place(request, .add)
        }
    }

    /// Puts a route in the place of one of the same prefix and metric in one step, or adds it.
    public func replaceRoute(
        _ destination: String,
        via gateway: String? = nil,
        on link: String? = nil,
        metric: UInt32? = nil,
        table: UInt32 = 254,
        kind: RouteKind = .unicast,
        source: String? = nil,
        expiresAfter lifetime: Duration? = nil
    ) {
        place(
            destination,
            [Hop(via: gateway, on: link)],
            metric: metric,
            table: table,
            kind: kind,
            source: source,
            lifetime: lifetime,
            .replace
        )
    }

    /// Adds a route behind those of the same prefix and metric; IPv6 makes one route of all their hops.
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

    /// Removes the first route that fits what is given, the one with the lowest metric if nothing else tells them apart.
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
    /// What happens to packets that take a route.
    public enum RouteKind: Hashable, Sendable, CaseIterable {
        /// They are sent.
        case unicast
        /// They are for this host.
        case local
        /// They vanish; programs get EINVAL.
        case blackhole
        /// They are refused; programs get EHOSTUNREACH.
        case unreachable
        /// They are forbidden; programs get EACCES.
        case prohibit
        /// The table is left, and the next rule decides.
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
    /// What a rule does with packets that match it.
    public enum RuleAction: Hashable, Sendable {
        /// The table is asked; 254 is the main one.
        case lookUp(table: UInt32)
        /// They vanish; programs get EINVAL.
        case blackhole
        /// They are refused; programs get ENETUNREACH (a route of this kind says EHOSTUNREACH).
        case unreachable
        /// They are forbidden; programs get EACCES.
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
