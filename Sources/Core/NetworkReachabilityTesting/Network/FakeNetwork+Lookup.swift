import LinuxPrimitives
import Netlink

extension FakeNetwork {
    /// What the kernel answers when it is asked for a route.
    func answer(_ query: RouteQuery, at now: Duration) -> Result<Route, SystemError> {
        let bound = query.outputInterface.flatMap { device($0) }
        let controller = (bound?.link.controllerIndex).flatMap { device($0) }
        if let table = bound?.kind.table ?? controller?.kind.table {
            // Packets inside a VRF know its routes alone; bound to one of its ports, they take those through it.
            var (inside, query) = (self, query)
            inside.rules = AddressFamily.allCases.map { Rule(family: $0, priority: 1000, action: .lookUp(table)) }
            inside.hasHadRules = true
            if bound?.kind.table != nil { query.outputInterface = nil }
            return inside.plainAnswer(query, at: now)
        }
        return plainAnswer(query, at: now)
    }

    private func plainAnswer(_ query: RouteQuery, at now: Duration) -> Result<Route, SystemError> {
        do throws(SystemError) {
            return .success(
                query.destination.family == .ipv4 ? try ipv4Answer(query) : try ipv6Answer(query, at: now)
            )
        } catch {
            return .failure(error)
        }
    }

    /// Asks the tables in the order of the rules, until one says something.
    ///
    /// - Parameter lookUp: the entry and hop found in a table; nil lets the next rule decide.
    func walkRules(
        _ query: RouteQuery,
        _ lookUp: (UInt32) throws(SystemError) -> Finding?
    ) throws(SystemError) -> Finding {
        for rule in rules where rule.family == query.destination.family && rule.matches(query) {
            switch rule.action {
            case .fail(let error):
                throw error
            case .lookUp(let table):
                guard let finding = try lookUp(table) else { continue }
                if let length = rule.suppressedLength, finding.entry.prefix.length <= length { continue }
                return finding
            }
        }
        throw .networkUnreachable
    }

    /// The error of a route that leads nowhere; nil for all others.
    static func error(of kind: RouteKind) -> SystemError? {
        switch kind {
        case .blackhole: .invalidArgument
        case .unreachable: .hostUnreachable
        case .prohibit: .accessDenied
        default: nil
        }
    }

    /// What happens to packets of an entry, its next hop object considered.
    func kind(of entry: Entry) -> RouteKind {
        guard entry.object != 0, let object = objects[entry.object] else { return entry.kind }
        let isHole = object.isBlackhole || object.members.contains { objects[$0]?.isBlackhole == true }
        return isHole ? .blackhole : entry.kind
    }

    /// The hops packets may take. A lost carrier alone is no reason not to, unless the system is set so; it never
    /// matters for packets to ourselves.
    func usableHops(of entry: Entry) -> [Hop] {
        hops(of: entry).filter { hop in
            guard !hop.isDead, let device = device(hop.interface) else { return false }
            return entry.kind == .local || !device.isAnnouncedDown || !ignoresLinkdown.contains(entry.family)
        }
    }

    /// The hop that the packets of one flow take: the same for the same flow, but not the one Linux would choose.
    static func choose(_ query: RouteQuery, among hops: [Hop]) -> Hop? {
        guard !hops.isEmpty else { return nil }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        // IPv6 takes the transport protocol into account, too.
        let transport = query.destination.family == .ipv6 ? query.transport?.rawValue : nil
        for byte in query.destination.bytes + (query.source?.bytes ?? []) + (transport.map { [$0] } ?? []) {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        // FNV spreads the last bytes over few bits.
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        return hops[Int((hash >> 33) % UInt64(hops.count))]
    }
}

/// What a table said: the entry that matched and the hop to take.
struct Finding: Sendable {
    var entry: FakeNetwork.Entry
    /// The hop that was chosen; nil where the answer needs none.
    var hop: FakeNetwork.Hop
    /// The table as the answer names it.
    var table: UInt32
}
