package import LinuxPrimitives

/// What was heard since it was read last: a hint that routes may have changed, never the change itself.
package struct EventBurst: Hashable, Sendable {
    /// What the messages were about.
    package struct Subjects: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        package static let link = Subjects(rawValue: 1 << 0)
        package static let address = Subjects(rawValue: 1 << 1)
        package static let route = Subjects(rawValue: 1 << 2)
        /// A route of prefix length 0, in any table.
        package static let defaultRoute = Subjects(rawValue: 1 << 3)
        package static let rule = Subjects(rawValue: 1 << 4)
        package static let nextHop = Subjects(rawValue: 1 << 5)
        package static let configuration = Subjects(rawValue: 1 << 6)
        /// A route, rule, next hop or address was taken away, perhaps by a batch that is about to put another in its place.
        package static let removal = Subjects(rawValue: 1 << 7)
        /// A route, rule, next hop or address was put in place.
        package static let addition = Subjects(rawValue: 1 << 8)
        /// Something else, or not to be made out.
        package static let other = Subjects(rawValue: 1 << 9)
        /// An IPv6 neighbour, which may be a gateway, does not answer, or answers again.
        package static let neighbour = Subjects(rawValue: 1 << 10)
    }

    /// Messages of the kernel, but for those of neighbours that change no route.
    package var messages = 0
    /// How often messages were lost for want of buffer space (ENOBUFS).
    package var overruns = 0
    /// Whether messages may be missing, so that anything may have changed.
    package var isIncomplete = false
    /// Messages of other processes, which were ignored.
    package var foreign = 0
    package var subjects: Subjects = []
    /// The netlink port of the process that took something away last, for evidence; 0 for nobody or the kernel itself.
    package var removedByPort: UInt32 = 0
    /// The destinations of the routes that messages were about. What other subjects concern they do not tell.
    package var prefixes: ChangedPrefixes = .none
    /// Why the socket cannot be read any more; nil while it can.
    package var failure: SystemError?
    /// When the first of it was noticed, on the monotonic clock: the moment the thread that waits for it woke. Nil for what
    /// was fetched otherwise.
    package var noticed: Duration?

    /// - Parameter prefixes: nil for everything where the burst is about routes or messages were lost, else none.
    package init(
        messages: Int = 0,
        overruns: Int = 0,
        foreign: Int = 0,
        subjects: Subjects = [],
        prefixes: ChangedPrefixes? = nil,
        noticed: Duration? = nil
    ) {
        self.messages = messages
        self.overruns = overruns
        isIncomplete = overruns > 0
        self.foreign = foreign
        self.subjects = subjects
        self.prefixes = prefixes ?? (overruns > 0 || subjects.contains(.route) ? .everything : .none)
        self.noticed = noticed
    }

    /// Whether anything may have changed.
    package var isRelevant: Bool { messages > 0 || isIncomplete }

    /// Whether nothing was heard at all.
    package var isEmpty: Bool { !isRelevant && foreign == 0 && failure == nil }

    package mutating func add(_ other: EventBurst) {
        messages += other.messages
        overruns += other.overruns
        isIncomplete = isIncomplete || other.isIncomplete
        foreign += other.foreign
        subjects.formUnion(other.subjects)
        prefixes.formUnion(other.prefixes)
        if other.removedByPort != 0 { removedByPort = other.removedByPort }
        failure = failure ?? other.failure
        noticed = noticed ?? other.noticed
    }
}

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
