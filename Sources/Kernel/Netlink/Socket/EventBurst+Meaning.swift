/// What a burst may have changed. Here, beside the subjects, so that sets of them are compared as the numbers they are.
extension EventBurst {
    /// Whether nothing but routes and their gateways was heard of, so that the destinations tell whom it concerns.
    package var isOnlyRoutes: Bool {
        !isIncomplete && !subjects.isDisjoint(with: [.route, .neighbour])
            && subjects.isSubset(of: [.route, .neighbour, .defaultRoute, .addition, .removal])
    }

    /// Whether only links and gateways have changed, addresses went, and routes to elsewhere came or went.
    package var leavesKnownSources: Bool {
        let mayAddSource = subjects.isSuperset(of: [.address, .addition])
        let known: Subjects = [.link, .address, .route, .neighbour, .addition, .removal]
        return !isIncomplete && subjects.isSubset(of: known) && !mayAddSource
    }

    /// Whether something went, or a link may have.
    package var mayLose: Bool { isIncomplete || !subjects.isDisjoint(with: [.removal, .link]) }

    /// Whether something went that whoever took it away may be about to replace. A link that goes down takes routes and
    /// addresses with it for good.
    package var mayBeReplaced: Bool {
        !isIncomplete && subjects.contains(.removal) && !subjects.contains(.link)
    }

    /// Whether an address went, or a default route, so that packets hardly have the source they had.
    package var mayTakeSources: Bool {
        mayBeReplaced && !subjects.isDisjoint(with: [.address, .defaultRoute])
    }

    /// Whether an interface may be another than before.
    package var mayChangeInterfaces: Bool { isIncomplete || subjects.contains(.link) }

    /// A new way may lead to other name servers; routes to elsewhere do not.
    package var mayChangeNames: Bool {
        isIncomplete || !subjects.isDisjoint(with: [.link, .address, .defaultRoute, .rule, .nextHop, .configuration])
    }
}
