import CLinux

@testable import LinuxSupport
@testable import Netlink

/// Messages of neighbours, as the kernel sends them.
enum NeighbourMessage {
    static func neighbour(
        _ address: WireAddress,
        _ state: NeighbourState,
        isRouter: Bool = false,
        kind: MessageKind = .newNeighbour
    ) -> [UInt8] {
        var builder = RequestBuilder()
        builder.begin(kind, sequence: 0)
        var head = ndmsg()
        head.ndm_family = address.family.rawValue
        head.ndm_ifindex = 2
        head.ndm_state = state.rawValue
        head.ndm_flags = isRouter ? UInt8(NTF_ROUTER) : 0
        builder.append(head)
        builder.append(attribute: Int(NDA_DST), address.bytes)
        return builder.bytes
    }

    /// Each kind of message of each state, and whether it may change a route.
    static let all: [(bytes: [UInt8], mayChangeRoutes: Bool, name: String)] = {
        let states: [NeighbourState] = [
            .none, .incomplete, .reachable, .stale, .delay, .probe, .failed, .noARP, .permanent,
        ]
        var messages: [(bytes: [UInt8], mayChangeRoutes: Bool, name: String)] = []
        for address in [WireAddress(ipv4: 0x0a01_0001), WireAddress(family: .ipv6, bits: 0xfd01 << 112 | 1)] {
            for state in states {
                for isRouter in [false, true] {
                    for kind in [MessageKind.newNeighbour, .deleteNeighbour] {
                        let answers = isRouter && (state == .reachable || state == .stale)
                        messages.append(
                            (
                                neighbour(address, state, isRouter: isRouter, kind: kind),
                                address.family == .ipv6 && (state == .failed || answers),
                                "\(address) \(state) \(isRouter) \(kind)"
                            )
                        )
                    }
                }
            }
        }
        return messages
    }()
}
