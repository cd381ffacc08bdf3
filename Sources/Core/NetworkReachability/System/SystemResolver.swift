import Dispatch
import LinuxPrimitives
import Netlink

/// The system's name service, asked on a few threads of our own: `getaddrinfo` blocks for as long as it likes.
final class SystemResolver: HostResolver {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var threads = 0
    }

    /// So many names may be asked about at once; the others wait their turn.
    private static let threadLimit = 4
    private static let files = [
        ResolverConfiguration.serverFile, "/etc/hosts", ResolverConfiguration.switchFile,
        ResolverConfiguration.upstreamFile,
    ]

    private let namespace: NamespaceReference?
    /// What the namespace has of its own in `/etc/netns`.
    private var ownFiles: NamespaceFiles? { namespace.flatMap { NamespaceFiles(of: $0) } }
    private let state: Locked<State> = Locked(State())

    /// - Parameter namespace: the network namespace to ask in; nil for the process's own.
    init(namespace: NamespaceReference?) {
        self.namespace = namespace
    }

    func localAddresses(of name: String) -> [NameLookup.Address] {
        HostsFile(path: place(of: "/etc/hosts")).addresses(of: name)
    }

    func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    ) {
        let namespace = namespace
        let startsThread = state.withLock { state in
            state.jobs.append { completion(Self.addresses(of: name, inside: namespace)) }
            guard state.threads < Self.threadLimit else { return false }
            state.threads += 1
            return true
        }
        guard startsThread else { return }
        do {
            try Thread.detach { [self] in work() }
        } catch {
            state.withLock { $0.threads -= 1 }
            completion(.failure(.unavailable("cannot start a thread to resolve \(name): \(error)")))
        }
    }

    /// Asks in a thread of its own where a namespace has to be entered, so that nobody is told inside of it: a thread that
    /// Dispatch starts for whoever is told would inherit it, and would later connect from there for other parts of the program.
    private static func addresses(
        of name: String,
        inside namespace: NamespaceReference?
    ) -> Result<[NameLookup.Address], NameLookup.Failure> {
        let ask: @Sendable () -> Result<[NameLookup.Address], NameLookup.Failure> = {
            Result { () throws(NameLookup.Failure) in try NameLookup.addresses(of: name, inside: namespace) }
        }
        guard namespace != nil else { return ask() }
        do {
            return try Thread.run(ask)
        } catch {
            return .failure(.unavailable("cannot start a thread to resolve \(name): \(error)"))
        }
    }

    /// Does jobs until there are none, then ends.
    private func work() {
        while true {
            let job: Job? = state.withLock { state in
                if state.jobs.isEmpty {
                    state.threads -= 1
                    return nil
                }
                return state.jobs.removeFirst()
            }
            guard let job else { return }
            job()
        }
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
        let namespace = namespace
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
        guard let watch = try? FileWatch(paths: Self.files.map { place(of: $0) }) else { return nil }
        return ReadSource.watch(watch.descriptor, of: watch, on: queue) {
            if watch.drain() { changed() }
        }
    }
}
