import LinuxPrimitives
import Netlink

extension FakeNetwork {
    /// A network device: the truth of it, and what the kernel has announced of it so far.
    struct Device: Sendable {
        /// Everything but the flags and the state, which follow from the rest.
        var link: Link
        let hardware: LinkHardware
        let kind: FakeKernel.LinkKind
        var isUp: Bool
        /// What the driver sees, whether the link is up or not.
        var isPlugged: Bool
        var isDormant = false
        /// The losses of the carrier that were announced.
        var announcedLosses: UInt32 = 0
        /// What the routing tables believe of the carrier (RTNH_F_LINKDOWN); it follows when the loss is announced.
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

        /// Whether it is operational as far as the kernel has announced it.
        var isRunning: Bool { isUp && !isAnnouncedDown && !isDormant }

        /// What the kernel answers when it is asked for this device.
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

        /// fe80::/64 with the interface identifier of the hardware address (RFC 4291, appendix A).
        var linkLocalAddress: WireAddress? {
            guard kind.makesLinkLocalAddress else { return nil }
            let index = UInt128(link.index)
            return WireAddress(family: .ipv6, bits: 0xfe80 << 112 | 0x00ff_fe00_0000 | index)
        }

        /// 02:00:00:00 and the index: locally administered, and different for every link.
        private static func hardwareAddress(_ index: UInt32) -> [UInt8] {
            [2, 0, 0, 0, UInt8(truncatingIfNeeded: index >> 8), UInt8(truncatingIfNeeded: index)]
        }
    }
}

/// What a link is made of.
struct LinkSpecification: Sendable {
    var name: String
    var kind: FakeKernel.LinkKind
    var isUp: Bool
    var hasCarrier: Bool
    /// The link this one runs over.
    var lower: String?
    /// The bridge or bond this one is a port of.
    var controller: String?
}
