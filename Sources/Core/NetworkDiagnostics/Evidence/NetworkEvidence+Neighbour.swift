import LinuxSupport
import Netlink
public import NetworkReachability

extension NetworkEvidence {
    /// What the kernel knows of the neighbour that packets are handed to, `ip-neighbour(8)`.
    ///
    /// It changes no verdict. No entry and a stale one are normal: nothing was sent lately. A failed one is evidence of a dead
    /// gateway, but the kernel asks it again with the next packet, and it may answer.
    public struct Neighbour: Hashable, Sendable {
        /// The state of an entry (RFC 4861, section 7.3.2; NUD_* in `<linux/neighbour.h>`). The raw value is the name.
        public enum State: String, Hashable, Sendable, CaseIterable {
            /// There is no entry, or nothing is known.
            case none
            /// It is being asked for, for the first time.
            case incomplete
            /// It answered a moment ago.
            case reachable
            /// It answered once; the next packet finds out whether it still does.
            case stale
            /// A packet was sent; an answer is waited for.
            case delay
            /// It is being asked again.
            case probe
            /// It did not answer.
            case failed
            /// Nobody is asked.
            case noarp
            /// Somebody has set it for good.
            case permanent
        }

        /// The address of the neighbour.
        public var address: IPAddress

        /// The name of the interface it is on.
        public var interface: String

        /// How it stands.
        public var state: State

        /// The link-layer address, two hexadecimal digits for each byte with colons between; nil while it is not known.
        public var hardwareAddress: String?

        /// Whether it is the gateway, and not the destination itself.
        public var isGateway: Bool
    }
}

extension NetworkEvidence.Neighbour.State {
    init(_ state: NeighbourState) {
        switch state {
        case .incomplete: self = .incomplete
        case .reachable: self = .reachable
        case .stale: self = .stale
        case .delay: self = .delay
        case .probe: self = .probe
        case .failed: self = .failed
        case .noARP: self = .noarp
        case .permanent: self = .permanent
        default: self = .none
        }
    }

    /// What it means, in a few words.
    var meaning: String {
        switch self {
        case .none: "not asked for lately, which is normal"
        case .incomplete: "being asked for, no answer yet"
        case .reachable: "reachable, it answered a moment ago"
        case .stale: "stale, which is normal while little is sent"
        case .delay, .probe: "\(rawValue), being asked again"
        case .failed: "failed, it did not answer: probably dead, but it will be asked again"
        case .noarp: "noarp, it need not be asked"
        case .permanent: "permanent, set by hand"
        }
    }
}

extension NetworkEvidence.Neighbour: CustomStringConvertible {
    /// For example `gateway 192.0.2.1 reachable, it answered a moment ago`.
    public var description: String { "\(isGateway ? "gateway " : "")\(address) \(state.meaning)" }
}

extension NetworkEvidence.Neighbour {
    /// - Parameter answer: the entry; nil where there is none.
    init(_ address: WireAddress, on link: Netlink.Link, _ answer: Netlink.Neighbour?, isGateway: Bool) {
        let bytes = answer?.hardwareAddress ?? []
        self.init(
            address: IPAddress(address, zone: address.isLinkLocal ? link.name : nil),
            interface: link.name,
            state: answer.map { State($0.state) } ?? .none,
            hardwareAddress: bytes.isEmpty ? nil : bytes.map(Self.hexadecimal).joined(separator: ":"),
            isGateway: isGateway
        )
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
