import LinuxSupport
import NetworkReachability

/// What systemd-networkd has heard of the network's own server (RFC 8910), by DHCP or from a router, and keeps in files that everybody may
/// read: since version 254.
enum NetworkdFiles {
    private static let directory = "/run/systemd/netif"

    /// Reads two files; nil where there is no such server, or they are about another namespace's interface.
    ///
    /// - Parameter source: the address packets have on that interface.
    static func portal(ofInterface index: UInt32, source: IPAddress?) -> CheckOptions.Anchor? {
        guard let lease = TextFile.read("\(directory)/leases/\(index)", limit: 64 << 10),
            let link = TextFile.read("\(directory)/links/\(index)", limit: 64 << 10)
        else { return nil }
        return portal(lease: lease, link: link, source: source)
    }

    /// An interface of another namespace may have the same number: only where the lease is for our address are the files ours.
    static func portal(lease: String, link: String, source: IPAddress?) -> CheckOptions.Anchor? {
        guard let source, value("ADDRESS", lease).flatMap({ IPAddress($0) }) == source else { return nil }
        return value("CAPTIVE_PORTAL", link).flatMap { try? CheckOptions.Anchor($0) }
    }

    private static func value(_ key: String, _ text: String) -> String? {
        for line in text.split(at: "\n") where line.hasPrefix("\(key)=") {
            return String(line.dropFirst(key.utf8.count + 1))
        }
        return nil
    }
}
