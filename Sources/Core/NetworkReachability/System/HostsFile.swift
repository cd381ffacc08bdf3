import LinuxSupport
import Netlink

/// The names this machine knows without asking anybody.
///
/// Source: `hosts(5)`; `localhost` by RFC 6761 even where the file is missing.
struct HostsFile {
    private let text: String

    init(path: String = "/etc/hosts") {
        text = TextFile.read(path) ?? ""
    }

    init(text: String) {
        self.text = text
    }

    /// Every address of `name` in the order of the file; names are compared without regard to case or a last dot, and in
    /// ASCII: the file may spell a name in its own script.
    func addresses(of name: String) -> [NameLookup.Address] {
        let wanted = Self.canonical(name)
        var addresses: [NameLookup.Address] = []
        for line in text.lines {
            let content = line.prefix { $0 != "#" }
            let fields = content.words
            guard let first = fields.first, fields.dropFirst().contains(where: { Self.canonical($0) == wanted }),
                let address = IPAddress(String(first)), address.isIPv6 || address.zone == nil
            else { continue }
            let entry = NameLookup.Address(address.wire, zone: address.zone.flatMap { UInt32($0) })
            if !addresses.contains(entry) { addresses.append(entry) }
        }
        if addresses.isEmpty, wanted == "localhost" || wanted.hasSuffix(".localhost") {
            return [NameLookup.Address(WireAddress(ipv4: 0x7f00_0001)), NameLookup.Address(.ipv6Loopback)]
        }
        return addresses
    }

    private static func canonical(_ name: some StringProtocol) -> String {
        let name = HostName.encoded(String(name)).lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
