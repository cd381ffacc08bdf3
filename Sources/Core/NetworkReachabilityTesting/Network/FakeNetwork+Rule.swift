import LinuxPrimitives
import Netlink

extension FakeNetwork {
    /// A rule that says which table is asked for which packets.
    struct Rule: Hashable, Sendable {
        /// What happens to packets that match.
        enum Action: Hashable, Sendable {
            case lookUp(UInt32)
            case fail(SystemError)
        }

        var family: AddressFamily
        /// The lower, the earlier.
        var priority: UInt32
        var source: Prefix?
        var destination: Prefix?
        /// The packet's mark; nil matches every mark.
        var mark: UInt32?
        /// Matches what it would not match otherwise (FIB_RULE_INVERT).
        var isInverted = false
        var action: Action
        /// Routes of this prefix length or less are passed over.
        var suppressedLength: Int?

        func matches(_ query: RouteQuery) -> Bool {
            var matches = true
            if let source { matches = matches && query.source.map(source.covers) ?? false }
            if let destination { matches = matches && destination.covers(query.destination) }
            if let mark { matches = matches && mark == query.mark }
            return matches != isInverted
        }

        /// The rules the kernel makes itself.
        static func standard(_ family: AddressFamily) -> [Rule] {
            let tables: [(UInt32, UInt32)] = [
                (0, RoutingTable.local), (32766, RoutingTable.main), (32767, RoutingTable.default),
            ]
            return tables.prefix(family == .ipv4 ? 3 : 2).map { priority, table in
                Rule(family: family, priority: priority, action: .lookUp(table))
            }
        }
    }
}
