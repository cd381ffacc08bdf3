import CNetlink

/// Questions that only explain an answer.
extension QuestionSocket {
    /// The policy rules of a family in the order they are tried; empty where the kernel has none.
    ///
    /// C counterpart: RTM_GETRULE, `ip-rule(8)`.
    mutating func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] {
        try dump(.getRule, as: RoutingRule.init(body:)) { request in
            var head = fib_rule_hdr()
            head.family = family.rawValue
            request.append(head)
        }
    }

    /// The neighbour with this address on a link; nil when the link knows none.
    ///
    /// C counterpart: RTM_GETNEIGH with NDA_DST (Linux 5.0), `ip-neighbour(8)`.
    mutating func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
        var request = RequestBuilder()
        request.begin(.getNeighbour, sequence: nextSequence())
        var head = ndmsg()
        head.ndm_family = address.family.rawValue
        head.ndm_ifindex = Int32(bitPattern: link)
        request.append(head)
        request.append(attribute: Int(NDA_DST), address)
        return try answer(to: request, as: Neighbour.init(body:))
    }
}
