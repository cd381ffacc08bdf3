extension NetworkEvidence {
    /// A route that would do, and why the kernel does not take it.
    public struct PassedOver: Hashable, Sendable {
        /// Why it is not taken.
        public enum Cause: String, Hashable, Sendable {
            /// A route of type throw ends the search in its table (`ip-route(8)`).
            case thrown = "throw"
            /// It has expired, and waits to be cleaned up (RFC 4861).
            case expired
            /// The rule passes over routes of its length (`suppress_prefixlength`, `ip-rule(8)`).
            case suppressed
            /// No rule asks its table, or only one that is for other packets.
            case notAsked
        }

        /// The route.
        public var route: Route

        /// Why it is not taken.
        public var cause: Cause

        /// The rule that asks its table for packets like these; nil for none.
        public var rule: Rule?

        /// The rule that asks its table for other packets; nil for none.
        public var ruleForOthers: Rule?
    }
}

extension NetworkEvidence.PassedOver {
    /// In a few words.
    var summary: String {
        let rule = rule.map { "rule \($0.priority)" } ?? "a rule"
        switch cause {
        case .thrown: return "\(route) (\(rule)) sends on to later rules, which have none"
        case .expired: return "\(route) has expired"
        case .suppressed: return "\(rule) passes over \(route) (suppress_prefixlength)"
        case .notAsked:
            guard let ruleForOthers else { return "no rule asks the table of \(route)" }
            return "\(route) is for other packets only (rule \(ruleForOthers))"
        }
    }

    /// What would let the kernel take it.
    func remedy(_ option: String) -> String {
        let table = route.table.map { " table \(NetworkEvidence.name(ofTable: $0))" } ?? ""
        let prefix = route.commandPrefix
        switch cause {
        case .thrown:
            return
                "delete it with `ip \(option)route del throw \(prefix)\(table)`, or add a route to a table that is asked"
                + " later"
        case .expired:
            let via = route.nextHops.first?.gateway.map { " via \($0)" } ?? ""
            let device = route.nextHops.first?.interface.map { " dev \($0.shellWord)" } ?? ""
            return "find out why the router advertises no more, or make it last with"
                + " `ip \(option)route replace \(prefix)\(via)\(device)\(table)\(route.commandMetric)`"
        case .suppressed:
            return "add a rule that asks table \(route.table ?? 0) without suppress_prefixlength:"
                + " `ip \(option)rule add lookup \(route.table ?? 0)`"
        case .notAsked where ruleForOthers == nil:
            return "let a rule ask the table: `ip \(option)rule add lookup \(route.table ?? 0)`"
        case .notAsked:
            return "add a route to table main, or let the rule be for these packets too (`--mark` asks as marked ones)"
        }
    }
}
