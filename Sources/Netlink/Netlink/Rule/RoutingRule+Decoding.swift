import CLinux
import LinuxSupport

extension RoutingRule {
    /// Reads an RTM_NEWRULE body; nil when it is truncated or of a family other than IPv4 and IPv6.
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
