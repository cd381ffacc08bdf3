import Dispatch
import LinuxSupport
import Netlink

/// The system's name service and its files, in a network namespace.
final class SystemResolver: HostResolver {
    private static let files = [
        ResolverConfiguration.serverFile, "/etc/hosts", ResolverConfiguration.switchFile,
        ResolverConfiguration.upstreamFile,
    ]

    private let namespace: NamespaceReference?
    /// The files of the namespace in `/etc/netns`.
    private var ownFiles: NamespaceFiles? { namespace.flatMap { NamespaceFiles(of: $0) } }
    private let threads: LookupThreads

    /// - Parameter namespace: the network namespace to ask in; nil for the process's own.
    init(namespace: NamespaceReference?) {
        self.namespace = namespace
        threads = LookupThreads { Self.addresses(of: $0, inside: namespace) }
    }

    func localAddresses(of name: String) -> [NameLookup.Address] {
        HostsFile(path: place(of: "/etc/hosts")).addresses(of: name)
    }

    func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    ) {
        threads.ask(for: HostName.encoded(name), completion)
    }

    /// Asks in a thread of its own where a namespace has to be entered, so that nobody is called inside of it: a thread that
    /// Dispatch starts for whoever is called would inherit it, and would later connect from there for other parts of the program.
    private static func addresses(
        of name: String,
        inside namespace: NamespaceReference?
    ) -> Result<[NameLookup.Address], NameLookup.Failure> {
        // Threads begin in the namespace of the one that starts them.
        let namespace = namespace ?? .ofProcessElsewhere
        let ask: @Sendable () -> Result<[NameLookup.Address], NameLookup.Failure> = {
            Result { () throws(NameLookup.Failure) in
                do throws(NameLookup.Failure) {
                    return try NameLookup.addresses(of: name, inside: namespace)
                } catch {
                    // The C library compares the bytes of the hosts file, where such a name may stand in its own letters.
                    let known = name.contains("xn--") ? listedAddresses(of: name, inside: namespace) : []
                    guard !known.isEmpty else { throw error }
                    return known
                }
            }
        }
        guard namespace != nil else { return ask() }
        do {
            return try Thread.run(ask)
        } catch {
            return .failure(.unavailable("cannot start a thread to resolve \(name): \(error)"))
        }
    }

    /// The addresses in the hosts file, if it is configured as a source.
    private static func listedAddresses(of name: String, inside namespace: NamespaceReference?) -> [NameLookup.Address]
    {
        let files = namespace.flatMap { NamespaceFiles(of: $0) }
        let place: (String) -> String = { files?.path(of: $0) ?? $0 }
        guard ResolverConfiguration.read(place).sources.contains("files") else { return [] }
        return HostsFile(path: place("/etc/hosts")).addresses(of: name)
    }

    var configuration: ResolverConfiguration? {
        let files = ownFiles
        return .read { files?.path(of: $0) ?? $0 }
    }

    private func place(of file: String) -> String { ownFiles?.path(of: file) ?? file }

    func answers(
        of servers: [IPAddress],
        to name: String,
        within limit: Duration
    ) -> [NameServerQuestion.Answer]? {
        let namespace = namespace ?? .ofProcessElsewhere
        let name = HostName.encoded(name)
        return try? Thread.run {
            NameServerQuestion.ask(
                servers.map { ($0.wire, $0.zone) },
                for: name,
                within: limit,
                inside: namespace
            )
        }
    }

    func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        // The namespace may get files of its own later, and the directories with them.
        let own = namespace.map { NamespaceFiles.places(of: Self.files, in: $0) } ?? []
        guard let watch = try? FileWatch(paths: Self.files + own, watchesContents: true) else { return nil }
        return ReadSource.watch(watch.descriptor, of: watch, on: queue) { if watch.drain() { changed() } }
    }
}

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
    ///   - resolv: The text of `/etc/resolv.conf`; nil if there is none.
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
    /// The current configuration.
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
