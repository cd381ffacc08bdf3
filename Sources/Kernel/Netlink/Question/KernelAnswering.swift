package import LinuxPrimitives

/// Whoever answers questions about one network namespace, the kernel or somebody who plays it.
package protocol KernelAnswering {
    /// One answer for each question, in their order. A question about a link is a barrier: a change whose notification was
    /// received before is visible to every question after it.
    func ask(_ questions: [KernelQuestion]) throws(NetlinkError) -> [KernelAnswer]
}

/// For those who ask one thing at a time.
extension KernelAnswering {
    package func link(index: UInt32) throws(NetlinkError) -> Link? {
        if case .link(let link)? = try ask([.link(index)]).first { link } else { nil }
    }

    package func link(named name: String) throws(NetlinkError) -> Link? {
        if case .link(let link)? = try ask([.linkNamed(name)]).first { link } else { nil }
    }

    package func links() throws(NetlinkError) -> [Link] {
        if case .links(let links)? = try ask([.links]).first { links } else { [] }
    }

    package func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>] {
        try ask(queries.map { .route($0) }).map { answer in
            if case .route(let route) = answer { route } else { .failure(.badMessage) }
        }
    }

    package func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? {
        if case .nextHopObject(let object)? = try ask([.nextHopObject(id)]).first { object } else { nil }
    }

    package func addresses() throws(NetlinkError) -> [InterfaceAddress] {
        if case .addresses(let addresses)? = try ask([.addresses]).first { addresses } else { [] }
    }

    package func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] {
        if case .rules(let rules)? = try ask([.rules(family)]).first { rules } else { [] }
    }

    package func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
        if case .neighbour(let neighbour)? = try ask([.neighbour(address, link: link)]).first { neighbour } else { nil }
    }

    package func hardware(of link: Link) throws(NetlinkError) -> LinkHardware {
        if case .hardware(let hardware)? = try ask([.hardware(link)]).first { hardware } else { LinkHardware() }
    }
}
