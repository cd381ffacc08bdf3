import Netlink
public import NetworkReachability

extension NetworkEvidence {
    /// An interface and its state, each as the kernel said it at that moment.
    public struct Link: Hashable, Sendable {
        /// Which it is. What it runs over is in ``NetworkEvidence/links`` too.
        public var interface: NetworkInterface

        /// Whether somebody set it up (IFF_UP).
        public var isUp: Bool

        /// Whether its driver sees a carrier (IFF_LOWER_UP).
        public var hasCarrier: Bool

        /// Whether it waits for an outside event (RFC 2863).
        public var isDormant: Bool

        /// The far end of a tunnel; nil if there are several, and if the kernel does not report it.
        public var tunnelRemote: IPAddress?

        /// Whether it is a tunnel whose far end the kernel does not report to this process.
        var hidesFarEnd = false

        /// The kind of the device (IFLA_INFO_KIND).
        let kind: String?

        /// Whether its carrier is that of its ports.
        let hasPorts: Bool

        init(_ interface: NetworkInterface, _ link: Netlink.Link) {
            hasPorts = link.hasPorts
            kind = link.kind
            self.interface = interface
            isUp = link.isUp
            hasCarrier = link.hasCarrier
            isDormant = link.isDormant
            tunnelRemote = link.tunnelRemote.map { IPAddress($0) }
        }

        /// Why no packet leaves through it.
        var obstacle: NetworkPath.UnsatisfiedReason? {
            if !isUp { return .linkDown }
            return hasCarrier ? (isDormant ? .dormant : nil) : .noCarrier
        }
    }
}

extension NetworkEvidence.Link: CustomStringConvertible {
    /// For example `eth0 (ethernet) up, carrier`.
    public var description: String {
        let state = isUp ? "up, \(hasCarrier ? "carrier" : "no carrier")" : "down"
        return "\(interface.name) (\(interface.type.rawValue)) \(state)" + (isUp && isDormant ? ", dormant" : "")
    }
}
