import CLinux
package import LinuxSupport

/// A policy rule: its selectors and its action.
///
/// C counterpart: `fib_rule_hdr` and `FRA_*` in `<linux/fib_rules.h>`, `ip-rule(8)`.
package struct RoutingRule: Hashable, Sendable {
    /// The priority. Rules with a lower number are evaluated first (FRA_PRIORITY).
    package var priority: UInt32
    package var action = RuleAction.lookUp
    /// The table to look up (`RuleAction.lookUp`); 0 for none.
    package var table: UInt32 = 0
    /// The priority of the rule to continue with (`RuleAction.goto`).
    package var target: UInt32?
    /// The rule matches only packets from this prefix.
    package var source: AddressPrefix?
    /// The rule matches only packets to this prefix.
    package var destination: AddressPrefix?
    /// The rule matches only packets whose mark has these bits in the positions set in `markMask`. 0 and 0 match every
    /// mark.
    package var mark: UInt32 = 0
    package var markMask: UInt32 = 0
    /// The rule matches only packets received on this interface. Packets of this machine have the input interface `lo`.
    package var inputInterface: String?
    /// The rule matches only packets bound to this interface.
    package var outputInterface: String?
    /// The rule matches only packets of these user IDs.
    package var users: ClosedRange<UInt32>?
    /// A Boolean value that indicates whether the selectors are inverted (FIB_RULE_INVERT).
    package var isInverted = false
    /// The prefix length up to which routes are ignored (FRA_SUPPRESS_PREFIXLEN).
    package var suppressedLength: Int?
    /// A Boolean value that indicates whether the rule looks up the table of the VRF that the packet belongs to
    /// (FRA_L3MDEV).
    package var asksVRF = false
    /// A Boolean value that indicates whether the rule has selectors that a lookup by addresses cannot match: type of
    /// service, protocol, ports or tunnel.
    package var hasOtherSelectors = false
}

/// The action of a policy rule for packets that match it.
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

extension RoutingRule {
    /// Creates a rule for all packets.
    package static func forAll(priority: UInt32) -> RoutingRule { RoutingRule(priority: priority) }

    /// Decodes an RTM_NEWRULE body; nil if it is truncated or of a family other than IPv4 and IPv6.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(fib_rule_hdr.self, at: 0), AddressFamily(rawValue: head.family) != nil else {
            return nil
        }
        self.init(priority: 0, action: RuleAction(rawValue: head.action), table: UInt32(head.table))
        isInverted = head.flags & UInt32(FIB_RULE_INVERT) != 0
        hasOtherSelectors = head.tos != 0
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<fib_rule_hdr>.size)) {
            switch type {
            case FRA_PRIORITY: priority = value.word ?? 0
            case FRA_TABLE: table = value.word ?? table
            case FRA_GOTO: target = value.word
            case FRA_SRC: source = AddressPrefix(value, length: head.src_len)
            case FRA_DST: destination = AddressPrefix(value, length: head.dst_len)
            case FRA_FWMARK: mark = value.word ?? 0
            case FRA_FWMASK: markMask = value.word ?? 0
            case FRA_IIFNAME: inputInterface = value.text
            case FRA_OIFNAME: outputInterface = value.text
            case FRA_UID_RANGE: users = Self.users(value)
            case FRA_SUPPRESS_PREFIXLEN: suppressedLength = value.word.flatMap { $0 > 128 ? nil : Int($0) }
            case FRA_L3MDEV: asksVRF = value.first == 1
            case FRA_TUN_ID, FRA_IP_PROTO, FRA_SPORT_RANGE, FRA_DPORT_RANGE: hasOtherSelectors = true
            default: break
            }
        }
    }

    private static func users(_ value: UnsafeRawBufferPointer) -> ClosedRange<UInt32>? {
        guard let range = value.load(fib_rule_uid_range.self, at: 0), range.start <= range.end else { return nil }
        return range.start...range.end
    }
}

extension AddressPrefix {
    fileprivate init?(_ value: UnsafeRawBufferPointer, length: UInt8) {
        guard let address = WireAddress(bytes: value) else { return nil }
        self.init(address, length: Int(length))
    }
}
