import Glibc
import LinuxSupport

/// What sysfs says of the device behind a link.
///
/// C counterpart: DEVTYPE in `/sys/class/net/*/uevent`, `sysfs(5)`.
enum DeviceType {
    /// The DEVTYPE of a link's device, or `wlan` where it has a Wi-Fi radio; nil where sysfs is silent or speaks of another
    /// device.
    ///
    /// A mounted sysfs shows the network namespace of its mounter, in which another device may have the same name and even
    /// the same index: only what agrees with the link in address and type as well is believed.
    static func verified(of link: Link, in sysfs: String = "/sys/class/net") -> String? {
        guard let directory = directory(of: link, in: sysfs), let uevent = TextFile.read("\(directory)/uevent") else {
            return nil
        }
        let key = "DEVTYPE="
        if let entry = uevent.split(at: "\n").first(where: { $0.hasPrefix(key) }) {
            return String(entry.dropFirst(key.count))
        }
        return access("\(directory)/phy80211", F_OK) == 0 ? "wlan" : nil
    }

    /// The index of the device that a link stands on; nil where there is none, or several.
    static func lowerIndex(of link: Link, in sysfs: String = "/sys/class/net") -> UInt32? {
        guard let directory = directory(of: link, in: sysfs),
            let files = try? DirectoryListing.files(in: directory)
        else { return nil }
        let lowers = files.filter { $0.hasPrefix("lower_") }
        guard lowers.count == 1, let lower = lowers.first else { return nil }
        return line("\(directory)/\(lower)/ifindex").flatMap { UInt32($0) }
    }

    /// Where sysfs speaks of this very link.
    private static func directory(of link: Link, in sysfs: String) -> String? {
        let directory = "\(sysfs)/\(link.name)"
        guard !link.name.contains("/"), line("\(directory)/ifindex") == String(link.index),
            line("\(directory)/type") == String(link.hardwareType.rawValue),
            line("\(directory)/address") == text(ofAddress: link.hardwareAddress)
        else { return nil }
        return directory
    }

    private static func line(_ path: String) -> String? {
        TextFile.read(path).map { String($0.prefix { $0 != "\n" }) }
    }

    /// Two hexadecimal digits for each byte, colons between them, as sysfs writes it.
    private static func text(ofAddress bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }
}
