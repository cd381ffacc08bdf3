import LinuxSupport
import Netlink

extension FakeNetwork {
    /// A network device: its state, and the state that the kernel has announced.
    struct Device: Sendable {
        /// The properties of the link except the flags and the state, which are computed.
        var link: Link
        let hardware: LinkHardware
        let kind: FakeKernel.LinkKind
        var isUp: Bool
        /// Whether the driver detects carrier, regardless of whether the link is up.
        var isPlugged: Bool
        var isDormant = false
        /// The number of announced losses of carrier.
        var announcedLosses: UInt32 = 0
        /// Whether the routing tables treat the link as down (RTNH_F_LINKDOWN). It changes when the loss of carrier
        /// is announced.
        var isAnnouncedDown: Bool

        init(_ specification: LinkSpecification, index: UInt32) {
            kind = specification.kind
            hardware = kind.hardware
            isUp = specification.isUp
            isPlugged = specification.hasCarrier
            isAnnouncedDown = !isPlugged
            link = Link(
                index: index,
                name: specification.name,
                flags: kind.flags,
                hardwareType: kind.hardwareType,
                mtu: kind.mtu,
                hardwareAddress: kind.hasHardwareAddress ? Device.hardwareAddress(index) : [],
                kind: kind.driverKind,
                parentBus: kind.parentBus
            )
        }

        var hasCarrier: Bool { isUp && isPlugged }

        /// Whether the device is operational according to the announced state.
        var isRunning: Bool { isUp && !isAnnouncedDown && !isDormant }

        /// The response to a query for this device.
        var answer: Link {
            var link = link
            if isUp { link.flags.insert(.up) }
            if hasCarrier { link.flags.insert(.carrier) }
            if isRunning { link.flags.insert(.running) }
            link.operationalState = operationalState
            return link
        }

        private var operationalState: OperationalState {
            if !isUp { return .down }
            if isAnnouncedDown { return link.lowerIndex == nil ? .down : .lowerLayerDown }
            return isDormant ? .dormant : kind.usableState
        }

        /// The address in fe80::/64 with the interface identifier of the hardware address (RFC 4291, appendix A).
        var linkLocalAddress: WireAddress? {
            guard kind.makesLinkLocalAddress else { return nil }
            let index = UInt128(link.index)
            return WireAddress(family: .ipv6, bits: 0xfe80 << 112 | 0x00ff_fe00_0000 | index)
        }

        /// Returns 02:00:00:00 followed by the index: a locally administered address that is unique for each link.
        private static func hardwareAddress(_ index: UInt32) -> [UInt8] {
            [2, 0, 0, 0, UInt8(truncatingIfNeeded: index >> 8), UInt8(truncatingIfNeeded: index)]
        }
    }
}

/// The properties of a new link.
struct LinkSpecification: Sendable {
    var name: String
    var kind: FakeKernel.LinkKind
    var isUp: Bool
    var hasCarrier: Bool
    /// The lower link.
    var lower: String?
    /// The bridge or bond of which the link is a port.
    var controller: String?
}

extension FakeNetwork {
    mutating func addLink(_ specification: LinkSpecification) throws(Refusal) {
        guard !specification.name.isEmpty, specification.name.utf8.count < 16 else {
            throw Refusal("\"\(specification.name)\" is no name of a link: 1 to 15 bytes")
        }
        guard device(named: specification.name) == nil else {
            throw Refusal("there is a link \"\(specification.name)\" already")
        }
        let lower = try specification.lower.map { name throws(Refusal) in try index(of: name) }
        let controller = try specification.controller.map { name throws(Refusal) in try index(of: name) }
        var device = Device(specification, index: makeIndex())
        device.link.lowerIndex = lower
        device.link.controllerIndex = controller
        devices.append(device)
        announce(.configuration, count: 2)
        announce(.link)
        if device.isUp { bringUp(device.link.index) }
        settleUppers()
    }

    /// Removes a device and all routes through it.
    mutating func removeLink(_ name: String) throws(Refusal) {
        let index = try index(of: name)
        takeDown(index)
        announce([.address, .removal], count: addresses.count { $0.interface == index })
        for entry in entries where entry.family == .ipv4 && entry.table == RoutingTable.local && entry.uses(index) {
            announce(entry, removed: true)
        }
        addresses.removeAll { $0.interface == index }
        // IPv4 removes a route with several hops completely, IPv6 removes only the hop.
        entries.removeAll { $0.family == .ipv4 && $0.uses(index) }
        removeIPv6NextHops { $0.interface == index }
        devices.removeAll { $0.link.index == index }
        announce(.configuration, count: 2)
        announce(.link)
        for device in devices where device.link.lowerIndex == index || device.link.controllerIndex == index {
            update(device.link.index) { device in
                if device.link.controllerIndex == index { device.link.controllerIndex = nil }
            }
            // The upper links of a device are removed with it.
            if device.link.lowerIndex == index { try removeLink(device.link.name) }
        }
        settleUppers()
    }

    mutating func rename(_ name: String, to other: String) throws(Refusal) {
        let index = try index(of: name)
        guard device(named: other) == nil else { throw Refusal("there is a link \"\(other)\" already") }
        update(index) { $0.link.name = other }
        announce(.link)
        announce([.address, .addition], count: addresses.count { $0.interface == index && $0.family == .ipv4 })
        announce(.configuration, count: 4)
    }

    mutating func setUp(_ name: String, _ isUp: Bool) throws(Refusal) {
        let index = try index(of: name)
        guard let device = device(index), device.isUp != isUp else { return }
        if isUp {
            update(index) { $0.isUp = true }
            announce(.link)
            bringUp(index)
        } else {
            takeDown(index)
        }
        settleUppers()
    }

    /// Sets the carrier that the driver detects. The kernel reports it when it is announced.
    mutating func setCarrier(_ name: String, _ isPlugged: Bool) throws(Refusal) {
        update(try index(of: name)) { device in
            if device.hasCarrier, !isPlugged { device.link.carrierLosses += 1 }
            device.isPlugged = isPlugged
        }
    }

    /// Announces a change of carrier, and removes next hop objects after a loss.
    mutating func announceCarrier(_ index: UInt32) {
        guard let device = device(index) else { return }
        let isKnown = device.isAnnouncedDown != device.isPlugged
        // A loss and return of carrier cause a single message.
        if isKnown, device.announcedLosses == device.link.carrierLosses { return }
        update(index) {
            $0.isAnnouncedDown = !device.isPlugged
            $0.announcedLosses = device.link.carrierLosses
        }
        guard device.isUp else { return }
        if isKnown { return announce(.link) }
        announce(.link)
        if device.isPlugged {
            makeLinkLocalAddress(index)
        } else {
            dropObjects(on: index)
            forgetNeighbours(on: index, keepingPermanent: true)
        }
        settleUppers()
    }

    mutating func setDormant(_ name: String, _ isDormant: Bool) throws(Refusal) {
        let index = try index(of: name)
        guard device(index)?.isDormant != isDormant else { return }
        update(index) { device in
            device.isDormant = isDormant
            device.link.waitsForProgram = isDormant
        }
        announce(.link)
        makeLinkLocalAddress(index)
    }

    mutating func setController(_ name: String, _ controller: String?, isActive: Bool) throws(Refusal) {
        let index = try index(of: name)
        let previous = device(index)?.link.controllerIndex
        let controllerIndex = try controller.map { name throws(Refusal) in try self.index(of: name) }
        update(index) { $0.link.controllerIndex = controllerIndex }
        if let previous {
            update(previous) { if $0.link.activePortIndex == index { $0.link.activePortIndex = nil } }
        }
        if let controllerIndex, isActive { update(controllerIndex) { $0.link.activePortIndex = index } }
        announce(.link, count: 2)
        settleUppers()
    }

    /// Sets a device up. Only the routes of its addresses are restored.
    private mutating func bringUp(_ index: UInt32) {
        announce(.link)
        addMulticastRoute(index)
        for address in addresses where address.interface == index { addRoutes(of: address) }
        reviveHops(on: index, families: AddressFamily.allCases)
        if device(index)?.link.isLoopback == true { addLoopbackIPv6(index) }
        makeLinkLocalAddress(index)
    }

    /// Sets a device down. IPv4 keeps the addresses and removes routes without a message. IPv6 removes both with a
    /// message each.
    private mutating func takeDown(_ index: UInt32) {
        guard device(index)?.isUp == true else { return }
        update(index) { $0.isUp = false }
        announce(.link)
        dropObjects(on: index)
        forgetNeighbours(on: index)
        killIPv6NextHops(on: index)
        announce([.address, .removal], count: addresses.count { $0.interface == index && $0.family == .ipv6 })
        addresses.removeAll { $0.interface == index && $0.family == .ipv6 }
        killIPv4NextHops(on: index, keepingLocal: true)
    }
}
