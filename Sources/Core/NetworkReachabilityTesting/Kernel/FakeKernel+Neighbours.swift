import LinuxPrimitives
import Netlink

extension FakeKernel {
    /// What the kernel knows of a neighbour: whether it answers (`ip-neighbour(8)`).
    public enum NeighbourState: Hashable, Sendable, CaseIterable {
        /// It is being asked for, for the first time.
        case incomplete
        /// It answered a moment ago.
        case reachable
        /// It answered once.
        case stale
        /// A packet was sent; an answer is waited for.
        case delay
        /// It is being asked again.
        case probe
        /// It did not answer.
        case failed
        /// Nobody is asked.
        case noARP
        /// Somebody has set it for good.
        case permanent

        var state: Netlink.NeighbourState {
            switch self {
            case .incomplete: .incomplete
            case .reachable: .reachable
            case .stale: .stale
            case .delay: .delay
            case .probe: .probe
            case .failed: .failed
            case .noARP: .noARP
            case .permanent: .permanent
            }
        }
    }

    /// Lets the kernel know a neighbour on a link that is up, by the hardware address 02:00:00:00:00:99 where it has one;
    /// nil forgets it. It stays in that state: no packet is sent here. A link that goes down forgets its neighbours, one that
    /// loses its carrier all but permanent ones.
    public func setNeighbour(_ address: String, on link: String, _ state: NeighbourState?) {
        change { network throws(Refusal) in
            guard let wire = WireAddress(address) else { throw Refusal("\"\(address)\" is no address") }
            let isKnown = state != .incomplete && state != .failed
            let neighbour = state.map {
                Neighbour(state: $0.state, hardwareAddress: isKnown ? [2, 0, 0, 0, 0, 0x99] : [])
            }
            try network.setNeighbour(wire, on: link, neighbour)
        }
    }
}
