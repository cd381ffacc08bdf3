package import LinuxSupport
package import NetworkReachability

/// A condition of a network namespace that a caller can wait for.
package enum NetworkCondition: Hashable, Sendable {
    /// The required state of the path to a target. The raw value is its name in arguments and JSON output.
    package enum Goal: String, Hashable, Sendable, CaseIterable {
        case reachable
        case notReachable = "not-reachable"
        /// Reachable over ethernet, Wi-Fi or any other network that is not a modem.
        case ethernet
        /// Reachable over a cellular modem.
        case wwan
    }

    /// The path to a host, or general reachability if nil.
    case target(String?, Goal)
    /// The name service returns addresses for this name.
    case name(String)
    /// A usable route covers the whole prefix: its link carries packets, and a source address exists.
    case route(IPPrefix)
    /// The interface exists, is up, has carrier, and has an address from which packets can leave its link.
    case interface(String)
}

extension NetworkCondition.Goal {
    /// Returns whether the status fulfils the goal; false for an unknown status.
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
    /// The state of a condition, with a reason.
    package struct State: Hashable, Sendable {
        package var condition: NetworkCondition
        package var holds: Bool
        /// The reason why the condition does not hold; nil if it holds.
        package var reason: NetworkPath.UnsatisfiedReason?
        /// The observed state as text.
        package var text: String

        /// Creates the state of a condition that has not been evaluated.
        init(_ condition: NetworkCondition) {
            self.condition = condition
            holds = false
            text = "not evaluated yet"
        }

        /// Creates the state of a condition on a target or name from the path to it.
        init(_ condition: NetworkCondition, _ path: NetworkPath) {
            self.condition = condition
            reason = path.reason
            text = path.description
            switch condition {
            case .target(_, let goal):
                holds = goal.isReached(by: path.status)
            default:
                // Without addresses nothing is looked up. Without the kernel the state is unknown.
                holds = path.destination != nil
                reason = holds ? nil : path.reason
                text = holds ? "resolved" : path.reason?.description ?? "name not resolved"
            }
        }

        /// Creates the state of a condition on a route or interface from its obstacle.
        init(_ condition: NetworkCondition, obstacle: NetworkPath.UnsatisfiedReason?) {
            self.condition = condition
            holds = obstacle == nil
            reason = obstacle
            text = obstacle?.description ?? "usable"
        }
    }
}

/// A set of addresses of one family with a common prefix, for example `192.0.2.0/24`.
package struct IPPrefix: Hashable, Sendable {
    package let wire: AddressPrefix

    /// Parses `192.0.2.0/24`, `2001:db8::/32`, a single address, or `default` for `0.0.0.0/0`. Bits beyond the length
    /// must be zero. The result is nil for any other text.
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

    /// Sample addresses of the prefix. A route that covers the prefix applies to at least one of them, unless narrower
    /// routes cover all of them. The first sample is in the middle of the prefix, the others are far apart. In prefixes
    /// that begin with 0, the middle is an ordinary address.
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
