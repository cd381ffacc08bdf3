/// How far an IPv4 destination is away.
///
/// C counterpart: `RT_SCOPE_*` in `<linux/rtnetlink.h>`.
enum Scope: UInt8, Hashable, Sendable, Comparable {
    case universe = 0
    case link = 253
    case host = 254

    static func < (one: Scope, other: Scope) -> Bool {
        one.rawValue < other.rawValue
    }
}
