/// A policy rule, as far as the tests need them.
struct RuleChange: Sendable {
    enum Action: Sendable {
        case lookUp(UInt32)
        case prohibit
        case unreachable
        case blackhole
    }

    var family: Change.Family
    var priority: UInt32
    var source: String?
    var destination: String?
    var mark: UInt32?
    var action: Action

    init(
        family: Change.Family = .ipv4,
        priority: UInt32 = 100,
        from source: String? = nil,
        to destination: String? = nil,
        mark: UInt32? = nil,
        _ action: Action
    ) {
        self.family = family
        self.priority = priority
        self.source = source
        self.destination = destination
        self.mark = mark
        self.action = action
    }
}
