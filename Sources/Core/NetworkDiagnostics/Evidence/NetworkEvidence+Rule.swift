import LinuxSupport
import Netlink

extension NetworkEvidence {
    /// A policy rule, `ip-rule(8)`.
    ///
    /// The kernel does not say which rule an answer came by. It is the first that fits the packet and asks the table of the
    /// answer or, for a refusal, the first that ends the search if it refuses in this way. Where a route in a table asked
    /// before refuses in the same way, the rule is named and not the route.
    public struct Rule: Hashable, Sendable {
        /// Its place: the lower, the earlier.
        public var priority: UInt32

        /// Which packets it is for, in the words of `ip rule`: `from all`, `not from all fwmark 0xca6c`.
        public var selector: String

        /// What it does with them: `lookup`, `prohibit`, `unreachable` or `blackhole`.
        public var action: String

        /// The table that it asks: 254 is `main`, 255 `local`; nil when it asks none.
        public var table: UInt32?

        /// Routes of this prefix length or less are passed over (`suppress_prefixlength`): with 0 default routes. Nil for none.
        public var suppressedLength: Int?
    }

    /// A table's name where every system has it, else its number.
    static func name(ofTable table: UInt32) -> String {
        switch table {
        case 253: "default"
        case 254: "main"
        case 255: "local"
        default: "\(table)"
        }
    }
}

extension NetworkEvidence.Rule {
    init(_ rule: RoutingRule) {
        self.init(
            priority: rule.priority,
            selector: rule.selector,
            action: rule.action.word,
            table: rule.action == .lookUp && rule.table != 0 ? rule.table : nil,
            suppressedLength: rule.suppressedLength
        )
    }
}

extension NetworkEvidence.Rule: CustomStringConvertible {
    /// As `ip rule` has it: `32766: from all lookup main`.
    public var description: String {
        "\(priority): \(selector) \(action)" + (table.map { " " + NetworkEvidence.name(ofTable: $0) } ?? "")
            + (suppressedLength.map { " suppress_prefixlength \($0)" } ?? "")
    }
}

extension RoutingRule {
    fileprivate var selector: String {
        var words = [(isInverted ? "not " : "") + "from \(source.map(Self.text) ?? "all")"]
        if let destination { words.append("to \(Self.text(destination))") }
        if mark != 0 || markMask != 0 {
            let mask = markMask == .max ? "" : "/0x" + String(markMask, radix: 16)
            words.append("fwmark 0x\(String(mark, radix: 16))\(mask)")
        }
        if let inputInterface { words.append("iif \(inputInterface.shellWord)") }
        if let outputInterface { words.append("oif \(outputInterface.shellWord)") }
        if let users { words.append("uidrange \(users.lowerBound)-\(users.upperBound)") }
        return words.joined(separator: " ")
    }

    private static func text(_ prefix: AddressPrefix) -> String {
        prefix.length == prefix.family.bitCount ? "\(prefix.address)" : "\(prefix)"
    }
}

extension RuleAction {
    fileprivate var word: String {
        switch self {
        case .lookUp: "lookup"
        case .goto: "goto"
        case .nothing: "nop"
        case .blackhole: "blackhole"
        case .unreachable: "unreachable"
        case .prohibit: "prohibit"
        default: "action \(rawValue)"
        }
    }
}
