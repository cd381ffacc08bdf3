import ArgumentParser
import NetworkReachability

/// How many of the conditions are to hold.
enum WaitQuantifier: EnumerableFlag {
    case all
    case any
}

extension NetworkCondition.Goal: ExpressibleByArgument {}

extension IPPrefix: ExpressibleByArgument {
    /// `192.0.2.0/24`, `2001:db8::/32` or `default`.
    package init?(argument: String) {
        self.init(argument)
    }
}
