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
    /// What the namespace has of its own in `/etc/netns`.
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

    /// What the hosts file says, where it is to be asked.
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
