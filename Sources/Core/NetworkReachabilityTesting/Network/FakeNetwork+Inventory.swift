import LinuxPrimitives
import Netlink

extension FakeNetwork {
    /// The unicast default routes of the tables that rules lead to, as the kernel lists them: by family, `main` before the
    /// other tables, the best first.
    var defaultRoutes: [DefaultRoute] {
        AddressFamily.allCases.flatMap { family in
            tables(family).flatMap { table in
                entries.filter { entry in
                    entry.family == family && entry.table == table && entry.prefix.length == 0
                        && kind(of: entry) == .unicast
                }
                .sorted { $0.metric < $1.metric }
                .map { entry in
                    DefaultRoute(
                        family: family,
                        table: table,
                        metric: entry.metric,
                        nextHops: hops(of: entry).map(\.answer)
                    )
                }
            }
        }
    }

    private func tables(_ family: AddressFamily) -> [UInt32] {
        let named = rules.filter { $0.family == family }.compactMap { rule in
            if case .lookUp(let table) = rule.action { table } else { nil }
        }
        return [RoutingTable.main] + Set(named).subtracting([RoutingTable.main, RoutingTable.local]).sorted()
    }
}

extension FakeNetwork.Address {
    /// What the kernel answers when it is asked for all addresses.
    var answer: InterfaceAddress {
        var flags: AddressFlags = []
        if isTentative { flags.insert(.tentative) }
        if isDeprecated { flags.insert(.deprecated) }
        if isSecondary { flags.insert(.secondary) }
        return InterfaceAddress(
            interface: interface,
            address: address,
            prefixLength: UInt8(prefix.length),
            flags: flags,
            scope: AddressScope(rawValue: scope.rawValue)
        )
    }
}
