import LinuxSupport

/// Where this machine looks names up, and which servers it asks, as its files say.
///
/// Source: `nsswitch.conf(5)`, `resolv.conf(5)`, `systemd-resolved.service(8)`.
package struct ResolverConfiguration: Hashable, Sendable {
    package static let serverFile = "/etc/resolv.conf"
    package static let switchFile = "/etc/nsswitch.conf"
    /// Where systemd-resolved writes the servers that it asks itself.
    static let upstreamFile = "/run/systemd/resolve/resolv.conf"
    /// Where systemd-resolved listens.
    package static let stubs = ["127.0.0.53", "127.0.0.54"]

    /// Where names are looked up, in this order: `files`, `dns`, `resolve` ...
    package let sources: [String]
    /// The servers that are asked in the end, in their order; empty where none is configured.
    package let servers: [IPAddress]
    /// The file that names them.
    package let file: String
    /// Where systemd-resolved listens, if it is what asks them; nil where the C library asks them itself.
    package let stub: IPAddress?

    /// - Parameters:
    ///   - resolv: the text of `/etc/resolv.conf`; nil where there is none.
    ///   - order: that of `/etc/nsswitch.conf`.
    ///   - upstream: that of systemd-resolved's own file.
    package init(resolv: String?, order: String?, upstream: String?) {
        sources = Self.sources(order ?? "")
        let named = Self.servers(resolv ?? "")
        // A hosts line with `resolve` asks it whatever resolv.conf says.
        let stub = named.first { Self.stubs.contains($0.description) }
        if let upstream, stub != nil || sources.contains("resolve") {
            servers = Self.servers(upstream)
            file = Self.upstreamFile
            self.stub = stub ?? IPAddress(Self.stubs[0])
        } else {
            servers = named
            file = Self.serverFile
            self.stub = nil
        }
    }

    /// Whether servers are asked at all.
    package var asksServers: Bool { sources.contains("dns") || sources.contains("resolve") }

    /// The servers that are asked for `name`; nil where others may know it, or it is not known who.
    func servers(for name: String) -> [IPAddress]? {
        guard asksServers else { return nil }
        // Multicast DNS asks the neighbours instead (RFC 6762): no server is needed, and yet a link is. Nss-mdns leaves names of more labels
        // to DNS, unless /etc/mdns.allow says otherwise.
        let labels = HostName.encoded(name).lowercased().split(at: ".")
        let isMulticast = labels.count == 2 && labels[1] == "local" && sources.contains { $0.hasPrefix("mdns") }
        return isMulticast ? [] : servers
    }

    /// The C library asks no more than three (MAXNS of `<resolv.h>`).
    private static let serverLimit = 3

    private static func servers(_ text: String) -> [IPAddress] {
        var servers: [IPAddress] = []
        for line in text.lines {
            let words = line.words
            guard words.count > 1, words[0] == "nameserver", let address = IPAddress(String(words[1])) else { continue }
            servers.append(address)
        }
        return Array(servers.prefix(serverLimit))
    }

    /// The words of the `hosts` line without the actions in brackets; without a line glibc takes `files dns`.
    private static func sources(_ text: String) -> [String] {
        for line in text.lines {
            let content = line.prefix { $0 != "#" }
            guard let colon = content.unicodeScalars.firstIndex(of: ":"),
                content[..<colon].filter({ !$0.isWhitespace }) == "hosts"
            else {
                continue
            }
            var sources: [String] = []
            var isAction = false
            for word in content[content.unicodeScalars.index(after: colon)...].words {
                if word.hasPrefix("[") { isAction = true }
                if !isAction { sources.append(String(word)) }
                if word.hasSuffix("]") { isAction = false }
            }
            return sources
        }
        return ["files", "dns"]
    }
}

extension ResolverConfiguration {
    /// What the files say now.
    ///
    /// - Parameter place: Where a file is read instead, for a namespace with files of its own.
    static func read(_ place: (String) -> String) -> ResolverConfiguration {
        ResolverConfiguration(
            resolv: TextFile.read(place(serverFile)),
            order: TextFile.read(place(switchFile)),
            upstream: TextFile.read(place(upstreamFile))
        )
    }
}
