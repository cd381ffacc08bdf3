import LinuxSupport
package import Netlink

extension FakeKernel {
    /// Adds a link with the next free index.
    ///
    /// - Parameters:
    ///   - name: The name of the link, 1 to 15 bytes.
    ///   - kind: The kind of the link.
    ///   - isUp: Whether the link is set up.
    ///   - carrier: Whether the driver detects carrier: a cable, an access point, or a peer that is up.
    ///   - lower: The lower link (of a VLAN or macvlan).
    ///   - controller: The bridge or bond of which the link is a port.
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

    /// Removes a link, its addresses, its routes and its upper links, like an unplugged or deleted device.
    public func removeLink(_ name: String) {
        change { network throws(Refusal) in try network.removeLink(name) }
    }

    /// Renames a link. Nothing else changes.
    public func rename(_ name: String, to other: String) {
        change { network throws(Refusal) in try network.rename(name, to: other) }
    }

    /// Sets a link up or down, as `ip link set` does. Setting it down removes IPv4 routes without a message, and IPv6
    /// routes and addresses with messages. Setting it up restores the routes of the remaining addresses, but no
    /// default route.
    public func setUp(_ name: String, _ isUp: Bool = true) {
        change { network throws(Refusal) in try network.setUp(name, isUp) }
    }

    /// Sets the carrier of a link. The loss of carrier keeps routes and removes next hop objects.
    ///
    /// - Parameter delay: The delay of the kernel's message. A real kernel delays it by up to a second after a change
    ///   of another link. Queries return the carrier at once.
    public func setCarrier(_ name: String, _ carrier: Bool, notifiedAfter delay: Duration = .zero) {
        change { network throws(Refusal) in
            try network.setCarrier(name, carrier)
            if delay <= .zero { network.announceCarrier(try network.index(of: name)) }
        }
        guard delay > .zero, let index = state.withLock({ $0.network.device(named: name)?.link.index }) else { return }
        schedule(after: delay) { kernel in kernel.change { $0.announceCarrier(index) } }
    }

    /// Makes a link dormant or not (RFC 2863). A dormant link waits for an external event, such as the keys of Wi-Fi.
    public func setDormant(_ name: String, _ isDormant: Bool = true) {
        change { network throws(Refusal) in try network.setDormant(name, isDormant) }
    }

    /// Makes a link a port of a bridge or bond, or removes it from its controller.
    ///
    /// - Parameter isActive: Whether a bond sends through the link.
    public func setController(_ name: String, _ controller: String?, isActive: Bool = false) {
        change { network throws(Refusal) in try network.setController(name, controller, isActive: isActive) }
    }

    /// Returns the index of a link, for addresses with a zone; nil if the link does not exist.
    public func index(of name: String) -> UInt32? {
        state.withLock { $0.network.device(named: name)?.link.index }
    }

    /// Sends a message about an irrelevant change of a link, such as its MTU or alias.
    public func touchLink(_ name: String) {
        change { network throws(Refusal) in
            _ = try network.index(of: name)
            network.announce(.link)
        }
    }
}

extension FakeKernel {
    /// Adds an address and the route to its prefix.
    ///
    /// - Parameters:
    ///   - address: The address with its prefix length, such as `10.0.0.2/24` or `fd00::2/64`.
    ///   - link: The name of the link.
    ///   - tentative: Whether duplicate address detection is in progress (IPv6). The address is not used before
    ///     `finishDetection(of:on:)`.
    ///   - linkScope: Whether an IPv4 address is valid only on its link, as with `ip address add ... scope link`.
    ///     Programs that configure addresses of 169.254.0.0/16 set this scope (RFC 3927).
    public func addAddress(_ address: String, to link: String, tentative: Bool = false, linkScope: Bool = false) {
        change { network throws(Refusal) in
            let prefix = try Prefix(parsing: address)
            try network.addAddress(prefix, to: link, isTentative: tentative, isOfLink: linkScope)
        }
    }

    /// Removes an address, given with or without its prefix length. If it was the last IPv4 address of its link, all
    /// IPv4 routes through the link are removed without a message. IPv6 default routes remain.
    public func removeAddress(_ address: String, from link: String) {
        change { network throws(Refusal) in try network.removeAddress(try Prefix(parsing: address), from: link) }
    }

    /// Ends the duplicate address detection of a tentative IPv6 address successfully. The address is used from now
    /// on.
    public func finishDetection(of address: String, on link: String) {
        change { network throws(Refusal) in
            try network.update(try Prefix(parsing: address).address, on: link) { $0.isTentative = false }
        }
    }

    /// Makes an address deprecated or preferred. A deprecated address is used only if there is no other.
    public func setDeprecated(_ address: String, on link: String, _ isDeprecated: Bool = true) {
        change { network throws(Refusal) in
            try network.update(try Prefix(parsing: address).address, on: link) { $0.isDeprecated = isDeprecated }
        }
    }
}

extension FakeKernel {
    /// The state of a neighbour (`ip-neighbour(8)`).
    public enum NeighbourState: Hashable, Sendable, CaseIterable {
        /// The first resolution is in progress.
        case incomplete
        /// The neighbour was recently confirmed.
        case reachable
        /// The neighbour was confirmed earlier.
        case stale
        /// A packet was sent, and a confirmation is pending.
        case delay
        /// The neighbour is being resolved again.
        case probe
        /// The resolution failed.
        case failed
        /// The link needs no resolution.
        case noARP
        /// The entry was configured permanently.
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

    /// Sets the state of a neighbour on a link that is up; nil removes the neighbour. If the state implies a hardware
    /// address, it is 02:00:00:00:00:99. The state does not change by itself, because no packets are sent. Setting a
    /// link down removes its neighbours. The loss of carrier removes all except permanent ones.
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

    /// Changes the router of a next hop object and thereby of the routes that use it.
    public func replaceNextHop(_ id: UInt32, via gateway: String, on link: String) {
        setNextHop(id, via: gateway, on: link, replacing: true)
    }

    /// Adds a next hop object that discards packets, or replaces another one with it.
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

    /// Removes a next hop object and the routes that use it. For IPv4 routes no separate message is sent. Groups lose
    /// the member, and are removed with their last member.
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
    ///   - family: The family of the packets.
    ///   - priority: The priority; lower numbers are applied first. If nil, the rule precedes the second rule, as
    ///     with `ip rule`.
    ///   - source: The source prefix of matching packets. Packets without a source do not match.
    ///   - destination: The destination prefix of matching packets.
    ///   - mark: The firewall mark of matching packets.
    ///   - inverted: Whether the match is inverted.
    ///   - action: The action for matching packets.
    ///   - suppressedLength: The prefix length up to which results are ignored; 0 ignores default routes.
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

    /// Removes the first rule with a priority.
    public func removeRule(_ family: Family = .ipv4, priority: UInt32) {
        change { network throws(Refusal) in
            try network.removeRule(family.addressFamily) { $0.priority == priority }
        }
    }

    /// Sets `ignore_routes_with_linkdown` for all links. Routes through links without carrier are then ignored.
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
    /// Sets the only far end of a tunnel, and the binding of its outer packets.
    package func setTunnel(_ name: String, to remote: String, from local: String? = nil, mark: UInt32 = 0) {
        change { network throws(Refusal) in
            let index = try network.index(of: name)
            let remote = try FakeKernel.address(remote)
            let local = try local.map { text throws(Refusal) in try FakeKernel.address(text) }
            network.update(index) { device in
                (device.link.tunnelRemote, device.link.tunnelLocal, device.link.tunnelMark) = (remote, local, mark)
            }
            network.announce(.link)
        }
    }

    /// Sets the far ends of a tunnel that may have several: the peers of WireGuard, or the default destinations of a
    /// VXLAN device. The kernel sends no event about this change.
    package func setFarEnds(of name: String, _ ends: [TunnelFarEnd]) {
        change { network throws(Refusal) in network.farEnds[try network.index(of: name)] = ends }
    }

    /// Sets whether WireGuard's peers are visible. The kernel hides them without CAP_NET_ADMIN.
    package func showPeers(_ shows: Bool) {
        change { $0.showsPeers = shows }
    }
}
