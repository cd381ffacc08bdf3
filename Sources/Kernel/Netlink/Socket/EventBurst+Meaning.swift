/// What a burst may have changed.
extension EventBurst {
    /// Whether nothing but routes and their gateways was heard of, so that the destinations tell whom it concerns.
    package var isOnlyRoutes: Bool {
        !isIncomplete && !subjects.isDisjoint(with: [.route, .neighbour])
            && subjects.isSubset(of: [.route, .neighbour, .defaultRoute, .addition, .removal])
    }

    /// Whether an interface may be another than before.
    package var mayChangeInterfaces: Bool { isIncomplete || subjects.contains(.link) }

    /// A new path may lead to other name servers; routes to elsewhere do not.
    package var mayChangeNames: Bool {
        isIncomplete || !subjects.isDisjoint(with: [.link, .address, .defaultRoute, .rule, .nextHop, .configuration])
    }
}
