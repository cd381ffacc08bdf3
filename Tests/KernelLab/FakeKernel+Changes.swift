import LinuxSupport
package import Netlink

extension FakeKernel {
    /// Adds a link with the next free index.
    ///
    /// - Parameters:
    ///   - name: its name, 1 to 15 bytes.
    ///   - kind: what it is.
    ///   - isUp: whether somebody set it up.
    ///   - carrier: whether the driver sees a carrier: a cable, an access point, a peer that is up.
    ///   - lower: the link it runs over (a VLAN, a macvlan).
    ///   - controller: the bridge or bond it is a port of.
    public func addLink(
        _ name: String,
        kind: LinkKind = .ethernet,
        isUp: Bool = true,
        carrier: Bool = true,
        over lower: String? = nil,
        portOf controller: String? = nil
    ) {
        let specification = LinkSpecification(
            name: name,
            kind: kind,
            isUp: isUp,
            hasCarrier: carrier,
            lower: lower,
            controller: controller
        )
        change { network throws(Refusal) in try network.addLink(specification) }
    }

    /// Removes a link, its addresses, its routes and what runs over it: the device was unplugged or deleted.
    public func removeLink(_ name: String) {
        change { network throws(Refusal) in try network.removeLink(name) }
    }

    /// Gives a link another name. Nothing else changes.
    public func rename(_ name: String, to other: String) {
        change { network throws(Refusal) in try network.rename(name, to: other) }
    }

    /// Sets a link up or down, as `ip link set` does. Down: IPv4 routes vanish silently and IPv6 routes and addresses
    /// loudly. Up brings back what follows from the addresses that are left, but no default route.
    public func setUp(_ name: String, _ isUp: Bool = true) {
        change { network throws(Refusal) in try network.setUp(name, isUp) }
    }

    /// Plugs or unplugs a link. Routes stay, but next hop objects do not survive the loss.
    ///
    /// - Parameter delay: how much later the kernel tells of it, as it does for up to a second when other links have
    ///   just changed. Who asks sees the carrier itself at once.
    public func setCarrier(_ name: String, _ carrier: Bool, notifiedAfter delay: Duration = .zero) {
        change { network throws(Refusal) in
            try network.setCarrier(name, carrier)
            if delay <= .zero { network.announceCarrier(try network.index(of: name)) }
        }
        guard delay > .zero, let index = state.withLock({ $0.network.device(named: name)?.link.index }) else { return }
        schedule(after: delay) { kernel in kernel.change { $0.announceCarrier(index) } }
    }

    /// Lets a link wait for something from outside (RFC 2863), as Wi-Fi does for its keys, or no longer.
    public func setDormant(_ name: String, _ isDormant: Bool = true) {
        change { network throws(Refusal) in try network.setDormant(name, isDormant) }
    }

    /// Makes a link a port of a bridge or bond, or of none.
    ///
    /// - Parameter isActive: whether a bond sends through it.
    public func setController(_ name: String, _ controller: String?, isActive: Bool = false) {
        change { network throws(Refusal) in try network.setController(name, controller, isActive: isActive) }
    }

    /// The index of a link, for addresses with a zone; nil when there is no such link.
    public func index(of name: String) -> UInt32? {
        state.withLock { $0.network.device(named: name)?.link.index }
    }

    /// Sends a message about a link of which nothing changed that matters: its MTU, its alias.
    public func touchLink(_ name: String) {
        change { network throws(Refusal) in
            _ = try network.index(of: name)
            network.hear(.link)
        }
    }
}

extension FakeKernel {
    /// Adds an address, and with it the route to its prefix.
    ///
    /// - Parameters:
    ///   - address: the address with the length of its prefix, such as `10.0.0.2/24` or `fd00::2/64`.
    ///   - link: the name of the link.
    ///   - tentative: whether IPv6 still checks for a duplicate; the address is not used before `finishDetection(of:on:)`.
    ///   - linkScope: whether an IPv4 address is valid on its link alone, as with `ip address add ... scope link`. Programs that
    ///     configure addresses of 169.254.0.0/16 set this scope (RFC 3927).
    public func addAddress(_ address: String, to link: String, tentative: Bool = false, linkScope: Bool = false) {
        change { network throws(Refusal) in
            let prefix = try Prefix(parsing: address)
            try network.addAddress(prefix, to: link, isTentative: tentative, isOfLink: linkScope)
        }
    }

    /// Removes an address, written with or without the length of its prefix. When it was the last IPv4 address of its
    /// link, all IPv4 routes through the link vanish silently; IPv6 default routes stay.
    public func removeAddress(_ address: String, from link: String) {
        change { network throws(Refusal) in try network.removeAddress(try Prefix(parsing: address), from: link) }
    }

    /// Nobody else has the tentative IPv6 address: from now on it is used.
    public func finishDetection(of address: String, on link: String) {
        change { network throws(Refusal) in
            try network.update(try Prefix(parsing: address).address, on: link) { $0.isTentative = false }
        }
    }

    /// The preferred lifetime of an address is over, or begins anew: it is used only where there is no other.
    public func setDeprecated(_ address: String, on link: String, _ isDeprecated: Bool = true) {
        change { network throws(Refusal) in
            try network.update(try Prefix(parsing: address).address, on: link) { $0.isDeprecated = isDeprecated }
        }
    }
}

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

extension FakeKernel {
    /// Adds a next hop object that sends to a router.
    public func addNextHop(_ id: UInt32, via gateway: String, on link: String) {
        setNextHop(id, via: gateway, on: link, replacing: false)
    }

    /// Points a next hop object to another router; the routes that use it follow.
    public func replaceNextHop(_ id: UInt32, via gateway: String, on link: String) {
        setNextHop(id, via: gateway, on: link, replacing: true)
    }

    /// Adds a next hop object in which packets vanish, or makes one of another.
    public func setNextHopBlackhole(_ id: UInt32) {
        change { network throws(Refusal) in
            try network.setObject(id, FakeNetwork.Object(isBlackhole: true), replacing: true)
        }
    }

    /// Adds a group of next hop objects.
    public func addNextHopGroup(_ id: UInt32, of members: [UInt32]) {
        change { network throws(Refusal) in
            try network.setObject(id, FakeNetwork.Object(members: members), replacing: false)
        }
    }

    /// Removes a next hop object and the routes that use it, IPv4 routes without a message of their own. Groups lose a
    /// member, and go with their last.
    public func removeNextHop(_ id: UInt32) {
        change { network throws(Refusal) in try network.removeObject(id) }
    }

    private func setNextHop(_ id: UInt32, via gateway: String, on link: String, replacing: Bool) {
        change { network throws(Refusal) in
            let hop = FakeNetwork.Hop(interface: try network.index(of: link), gateway: try FakeKernel.address(gateway))
            try network.setObject(id, FakeNetwork.Object(hop: hop), replacing: replacing)
        }
    }
}

extension FakeKernel {
    /// Adds a policy rule.
    ///
    /// - Parameters:
    ///   - family: whose packets it is about.
    ///   - priority: the lower, the earlier; nil for one just before the second rule, as `ip rule` has it.
    ///   - source: only packets from this prefix; packets that have no source yet do not match.
    ///   - destination: only packets to this prefix.
    ///   - mark: only packets with this firewall mark.
    ///   - inverted: packets match that would not otherwise.
    ///   - action: what happens to them.
    ///   - suppressedLength: results with this prefix length or less are passed over; 0 passes default routes over.
    public func addRule(
        _ family: Family = .ipv4,
        priority: UInt32? = nil,
        from source: String? = nil,
        to destination: String? = nil,
        mark: UInt32? = nil,
        inverted: Bool = false,
        _ action: RuleAction,
        suppressingPrefixLength suppressedLength: Int? = nil
    ) {
        change { network throws(Refusal) in
            var rule = FakeNetwork.Rule(family: family.addressFamily, priority: 0, action: action.action)
            rule.source = try FakeKernel.prefix(source, family)
            rule.destination = try FakeKernel.prefix(destination, family)
            rule.mark = mark
            rule.isInverted = inverted
            rule.suppressedLength = suppressedLength
            try network.addRule(rule, priority: priority)
        }
    }

    /// Removes the first rule of this priority.
    public func removeRule(_ family: Family = .ipv4, priority: UInt32) {
        change { network throws(Refusal) in
            try network.removeRule(family.addressFamily) { $0.priority == priority }
        }
    }

    /// Sets `ignore_routes_with_linkdown` for all links: routes through links without a carrier are then passed over.
    public func ignoreRoutesWithLinkdown(_ family: Family = .ipv4, _ ignores: Bool = true) {
        change { $0.setIgnoresLinkdown(ignores, family.addressFamily) }
    }

    private static func prefix(_ text: String?, _ family: Family) throws(Refusal) -> Prefix? {
        guard let text else { return nil }
        let prefix = try Prefix(parsing: text, family: family.addressFamily).network
        guard prefix.family == family.addressFamily else { throw Refusal("\(text) is not of the rule's family") }
        return prefix
    }
}

extension FakeKernel {
    /// Sets the single far end of a tunnel, with what its outer packets are bound to.
    package func setTunnel(_ name: String, to remote: String, from local: String? = nil, mark: UInt32 = 0) {
        change { network throws(Refusal) in
            let index = try network.index(of: name)
            let remote = try FakeKernel.address(remote)
            let local = try local.map { text throws(Refusal) in try FakeKernel.address(text) }
            network.update(index) { device in
                (device.link.tunnelRemote, device.link.tunnelLocal, device.link.tunnelMark) = (remote, local, mark)
            }
            network.hear(.link)
        }
    }

    /// Sets the far ends of a tunnel that may have several: WireGuard's peers, or the default destinations of a VXLAN device. The kernel
    /// sends no event about that.
    package func setFarEnds(of name: String, _ ends: [TunnelFarEnd]) {
        change { network throws(Refusal) in network.farEnds[try network.index(of: name)] = ends }
    }

    /// Shows WireGuard's peers, or hides them as the kernel does without CAP_NET_ADMIN.
    package func showPeers(_ shows: Bool) {
        change { $0.showsPeers = shows }
    }
}
