package import LinuxSupport
package import NetworkReachability

/// Something of a network namespace that may be waited for.
package enum NetworkCondition: Hashable, Sendable {
    /// The required state of the path to a target. The raw value is its name in arguments and JSON output.
    package enum Goal: String, Hashable, Sendable, CaseIterable {
        case reachable
        case notReachable = "not-reachable"
        /// Reachable over ethernet, Wi-Fi or anything else that is no modem.
        case ethernet
        /// Reachable over a modem.
        case wwan
    }

    /// The path to a host, or with nil to the network at large.
    case target(String?, Goal)
    /// The name service knows addresses of this name.
    case name(String)
    /// A usable route covers all of the prefix: one whose link carries packets, with a source address for them.
    case route(IPPrefix)
    /// The interface exists, is up, has a carrier, and has an address that packets to beyond its link may come from.
    case interface(String)
}

extension NetworkCondition.Goal {
    /// Whether the status fulfils the condition; false for an unknown status.
    func isReached(by status: NetworkReachabilityStatus) -> Bool {
        switch self {
        case .reachable: status.isReachable
        case .notReachable: status == .notReachable
        case .ethernet: status == .reachable(.ethernetOrWiFi)
        case .wwan: status == .reachable(.wwan)
        }
    }
}

extension NetworkCondition {
    /// Whether a condition holds, with the observed state.
    package struct State: Hashable, Sendable {
        package var condition: NetworkCondition
        package var holds: Bool
        /// What stands in the way, as paths have it; nil where nothing does.
        package var reason: NetworkPath.UnsatisfiedReason?
        /// The observed state as text.
        package var text: String

        /// Nothing has been seen yet.
        init(_ condition: NetworkCondition) {
            self.condition = condition
            holds = false
            text = "not evaluated yet"
        }

        /// The condition of a target or name, by the path to it.
        init(_ condition: NetworkCondition, _ path: NetworkPath) {
            self.condition = condition
            reason = path.reason
            text = path.description
            switch condition {
            case .target(_, let goal):
                holds = goal.isReached(by: path.status)
            default:
                // Without addresses there is nothing to look up; without a kernel nothing is known.
                holds = path.destination != nil
                reason = holds ? nil : path.reason
                text = holds ? "resolved" : path.reason?.description ?? "name not resolved"
            }
        }

        /// The condition of a route or interface, by what stands in its way.
        init(_ condition: NetworkCondition, obstacle: NetworkPath.UnsatisfiedReason?) {
            self.condition = condition
            holds = obstacle == nil
            reason = obstacle
            text = obstacle?.description ?? "usable"
        }
    }
}

/// All addresses of one family that begin with the same bits, as `192.0.2.0/24`.
package struct IPPrefix: Hashable, Sendable {
    package let wire: AddressPrefix

    /// Reads `192.0.2.0/24`, `2001:db8::/32`, an address alone for itself, and `default` for `0.0.0.0/0`. Bits beyond the length
    /// must be zero; everything else is nil.
    package init?(_ text: String) {
        let parts = text == "default" ? ["0.0.0.0", "0"] : text.split(at: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, let address = WireAddress(String(first)) else { return nil }
        var length = address.family.bitCount
        if parts.count == 2 {
            guard let last = parts.last, let number = Int(last), (0...length).contains(number),
                last.allSatisfy(\.isNumber)
            else { return nil }
            length = number
        }
        wire = AddressPrefix(address, length: length)
        guard wire.address == address else { return nil }
    }

    /// Some of its addresses, of which at least one is subject to a route that covers the prefix, unless there are narrower
    /// routes to all of them: its middle first, then others that are far apart. In prefixes that begin with 0 the middle is
    /// an ordinary address.
    var samples: [IPAddress] {
        let rest = UInt128(wire.family.bitCount - wire.length)
        let offsets: [UInt128]
        if rest < 4 {
            offsets = Array(0..<(1 << rest))
        } else {
            let (half, quarter): (UInt128, UInt128) = (1 << (rest - 1), 1 << (rest - 2))
            offsets = [half + 1, quarter + 1, half + quarter + 1, 1, half &+ half &- 2]
        }
        return offsets.map { IPAddress(WireAddress(family: wire.family, bits: wire.address.bits | $0)) }
    }
}

extension IPPrefix: CustomStringConvertible {
    package var description: String { wire.description }
}
