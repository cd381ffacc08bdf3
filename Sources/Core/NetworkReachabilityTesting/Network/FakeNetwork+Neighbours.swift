import LinuxPrimitives
import Netlink

extension FakeNetwork {
    /// An address on a link.
    struct Place: Hashable, Sendable {
        var address: WireAddress
        var link: UInt32
    }

    /// Takes note of a neighbour, or forgets it.
    mutating func setNeighbour(_ address: WireAddress, on name: String, _ neighbour: Neighbour?) throws(Refusal) {
        let index = try index(of: name)
        if neighbour != nil, device(index)?.isUp != true { throw Refusal("\(name) is down") }
        let place = Place(address: address, link: index)
        let hadFailed = neighbours[place]?.state == .failed
        neighbours[place] = neighbour
        if hadFailed != (neighbour?.state == .failed) { hearNeighbour(address) }
    }

    /// Whether packets over this hop are better sent elsewhere: IPv6 hosts pass over routers that do not answer (RFC 4191).
    ///
    /// C counterpart: `rt6_check_neigh`.
    func hasFailed(_ hop: Hop) -> Bool {
        guard let gateway = hop.gateway else { return false }
        return neighbours[Place(address: gateway, link: hop.interface)]?.state == .failed
    }

    /// A link that goes down forgets all it knows, one that loses its carrier keeps what was set for good.
    mutating func forgetNeighbours(on index: UInt32, keepingPermanent: Bool = false) {
        let leaving = neighbours.filter { place, neighbour in
            place.link == index && !(keepingPermanent && neighbour.state == .permanent)
        }
        for (place, neighbour) in leaving {
            neighbours[place] = nil
            if neighbour.state == .failed { hearNeighbour(place.address) }
        }
    }

    /// IPv4 does not care.
    private mutating func hearNeighbour(_ address: WireAddress) {
        guard address.family == .ipv6 else { return }
        hear(.neighbour, prefixes: [AddressPrefix(WireAddress(family: .ipv6, bits: 0), length: 0)])
    }
}
