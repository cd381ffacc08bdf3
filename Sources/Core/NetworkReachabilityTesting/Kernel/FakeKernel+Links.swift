import LinuxPrimitives
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
