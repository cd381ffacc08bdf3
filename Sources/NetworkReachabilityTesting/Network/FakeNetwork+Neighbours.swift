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
        neighbours[Place(address: address, link: index)] = neighbour
    }

    /// A link that goes down forgets all it knows, one that loses its carrier keeps what was set for good.
    mutating func forgetNeighbours(on index: UInt32, keepingPermanent: Bool = false) {
        neighbours = neighbours.filter { place, neighbour in
            place.link != index || keepingPermanent && neighbour.state == .permanent
        }
    }
}
