/// What a policy rule does with packets that match it.
///
/// C counterpart: `FR_ACT_*` in `<linux/fib_rules.h>`.
package struct RuleAction: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let lookUp = RuleAction(rawValue: 1)
    package static let goto = RuleAction(rawValue: 2)
    package static let nothing = RuleAction(rawValue: 3)
    package static let blackhole = RuleAction(rawValue: 6)
    package static let unreachable = RuleAction(rawValue: 7)
    package static let prohibit = RuleAction(rawValue: 8)
}
