import ReachabilityLedger

/// Which machine it is: its site, and its name there.
package struct FleetPlace: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let site: String
    package let device: String

    /// Nil where a name is none.
    package init?(site: String, device: String) {
        guard FleetName.isValid(site), FleetName.isValid(device) else { return nil }
        (self.site, self.device) = (site, device)
    }

    package var description: String { "\(site)/\(device)" }

    package static func < (one: FleetPlace, other: FleetPlace) -> Bool {
        (one.site, one.device) < (other.site, other.device)
    }
}
