import Dispatch
import LinuxSupport
import Netlink

/// The name service of the system and its configuration files, in a network namespace.
final class SystemResolver: HostResolver {
    private static let files = [
        ResolverConfiguration.serverFile, "/etc/hosts", ResolverConfiguration.switchFile,
        ResolverConfiguration.upstreamFile,
    ]

    private let namespace: NamespaceReference?
    private let threads: LookupThreads

    /// Creates a resolver.
    ///
    /// - Parameter namespace: The network namespace in which to query; nil for the process's own.
    init(namespace: NamespaceReference?) {
        self.namespace = namespace
        threads = LookupThreads { Self.addresses(of: $0, inside: namespace) }
    }

    func localAddresses(of name: String) -> [NameLookup.Address] {
        HostsFile(path: Self.places(in: namespace)("/etc/hosts")).addresses(of: name)
    }

    /// Returns a function from a file of the system to the file that a namespace uses, which may be in `/etc/netns`.
    private static func places(in namespace: NamespaceReference?) -> (String) -> String {
        let files = namespace.flatMap { NamespaceFiles(of: $0) }
        return { files?.path(of: $0) ?? $0 }
    }

    func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    ) {
        threads.ask(for: HostName.encoded(name), completion)
    }

    /// Resolves a name. If a namespace must be entered, this runs on a separate thread and calls no callback there: a
    /// thread that Dispatch starts inside the namespace would stay in it, and would later run other parts of the
    /// program there.
    private static func addresses(
        of name: String,
        inside namespace: NamespaceReference?
    ) -> Result<[NameLookup.Address], NameLookup.Failure> {
        // A new thread inherits the namespace of the thread that starts it.
        let namespace = namespace ?? .ofProcessIfDifferent
        let lookUp: @Sendable () -> Result<[NameLookup.Address], NameLookup.Failure> = {
            Result { () throws(NameLookup.Failure) in
                do throws(NameLookup.Failure) {
                    return try NameLookup.addresses(of: name, inside: namespace)
                } catch {
                    // The C library compares the bytes of the hosts file, which may contain the name in its original
                    // script.
                    let known = name.contains("xn--") ? listedAddresses(of: name, inside: namespace) : []
                    guard !known.isEmpty else { throw error }
                    return known
                }
            }
        }
        guard namespace != nil else { return lookUp() }
        do {
            return try Thread.run(lookUp)
        } catch {
            return .failure(.unavailable("cannot start a thread to resolve \(name): \(error)"))
        }
    }

    /// Returns the addresses in the hosts file, if the configuration lists it as a source.
    private static func listedAddresses(of name: String, inside namespace: NamespaceReference?) -> [NameLookup.Address]
    {
        let place = places(in: namespace)
        guard ResolverConfiguration.read(place).sources.contains("files") else { return [] }
        return HostsFile(path: place("/etc/hosts")).addresses(of: name)
    }

    var configuration: ResolverConfiguration? { .read(Self.places(in: namespace)) }

    func answers(
        of servers: [IPAddress],
        to name: String,
        within limit: Duration
    ) -> [NameServerQuery.Answer]? {
        let namespace = namespace ?? .ofProcessIfDifferent
        let name = HostName.encoded(name)
        return try? Thread.run {
            NameServerQuery.ask(
                servers.map { ($0.wire, $0.zone) },
                for: name,
                within: limit,
                inside: namespace
            )
        }
    }

    func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        // The namespace may get its own files, and their directories, later.
        let own = namespace.map { NamespaceFiles.places(of: Self.files, in: $0) } ?? []
        guard let watch = try? FileWatch(paths: Self.files + own, watchesContents: true) else { return nil }
        return ReadSource.watch(watch.descriptor, of: watch, on: queue) { if watch.drain() { changed() } }
    }
}

/// The configured sources and servers of name resolution.
///
/// Source: `nsswitch.conf(5)`, `resolv.conf(5)`, `systemd-resolved.service(8)`.
package struct ResolverConfiguration: Hashable, Sendable {
    package static let serverFile = "/etc/resolv.conf"
    package static let switchFile = "/etc/nsswitch.conf"
    /// The file in which systemd-resolved lists the servers that it queries.
    static let upstreamFile = "/run/systemd/resolve/resolv.conf"
    /// The addresses on which systemd-resolved listens.
    package static let stubs = ["127.0.0.53", "127.0.0.54"]

    /// The sources of names, in the order of use, for example `files`, `dns`, `resolve`.
    package let sources: [String]
    /// The servers that are finally queried, in the order of use; empty if none is configured.
    package let servers: [IPAddress]
    /// The file that lists the servers.
    package let file: String
    /// The address of systemd-resolved if it queries the servers; nil if the C library queries them itself.
    package let stub: IPAddress?

    /// Creates a configuration from the text of the files.
    ///
    /// - Parameters:
    ///   - resolv: The text of `/etc/resolv.conf`; nil if the file does not exist.
    ///   - order: The text of `/etc/nsswitch.conf`; nil if the file does not exist.
    ///   - upstream: The text of systemd-resolved's own file; nil if the file does not exist.
    package init(resolv: String?, order: String?, upstream: String?) {
        sources = Self.sources(order ?? "")
        let named = Self.servers(resolv ?? "")
        // With `resolve` in the hosts line, systemd-resolved is queried whatever resolv.conf contains.
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

    /// A Boolean value that indicates whether any servers are queried.
    package var asksServers: Bool { sources.contains("dns") || sources.contains("resolve") }

    /// Returns the servers that are queried for `name`; nil if other sources may know the name, or the servers are not
    /// known.
    func servers(for name: String) -> [IPAddress]? {
        guard asksServers else { return nil }
        // Multicast DNS queries the neighbours instead (RFC 6762). It needs a link, but no server. nss-mdns leaves
        // names with more labels to DNS, unless /etc/mdns.allow permits them.
        let labels = HostName.encoded(name).lowercased().split(at: ".")
        let isMulticast = labels.count == 2 && labels[1] == "local" && sources.contains { $0.hasPrefix("mdns") }
        return isMulticast ? [] : servers
    }

    /// The maximum number of servers that the C library queries (MAXNS of `<resolv.h>`).
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

    /// Returns the words of the `hosts` line without the actions in brackets. Without such a line, glibc uses `files
    /// dns`.
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
    /// Returns the current configuration.
    ///
    /// - Parameter place: Returns the path from which a file is read, for a namespace with its own files.
    static func read(_ place: (String) -> String) -> ResolverConfiguration {
        ResolverConfiguration(
            resolv: TextFile.read(place(serverFile)),
            order: TextFile.read(place(switchFile)),
            upstream: TextFile.read(place(upstreamFile))
        )
    }
}

/// The names that are known without a query.
///
/// Source: `hosts(5)`. `localhost` is known by RFC 6761 even if the file does not exist.
struct HostsFile {
    private let text: String

    init(path: String = "/etc/hosts") {
        text = TextFile.read(path) ?? ""
    }

    init(text: String) {
        self.text = text
    }

    /// Returns all addresses of `name`, in the order of the file. Names are compared in their ASCII form (the file may
    /// contain the original script), without regard to case or a final dot.
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
