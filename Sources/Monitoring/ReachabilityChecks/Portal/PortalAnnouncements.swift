import Dispatch
import LinuxSupport
import Netlink
import NetworkReachability

/// What routers say of the network's own server that tells of captivity (option 37 of router advertisements, RFC 8910), as long as
/// somebody listens. Thread-safe; no packet and no privilege is needed.
final class PortalAnnouncements: Sendable {
    private struct State {
        var servers: [UInt32: CheckOptions.Anchor] = [:]
        var told: ContinuousClock.Instant?
        var isTelling = false
        /// The namespace that the socket is in.
        var identity: NamespaceIdentity?
    }

    private let namespace: NetworkNamespace
    private let state = Locked(State())

    init(in namespace: NetworkNamespace) {
        self.namespace = namespace
    }

    /// The server, by the index of the interface it was told of through.
    var servers: [UInt32: CheckOptions.Anchor] { state.withLock { $0.servers } }

    /// Whether the namespace is gone, or another one has its name. The socket keeps the namespace alive until the listening is cancelled.
    var hasLostNamespace: Bool { !namespace.leads(to: state.withLock(\.identity)) }

    /// Listens until the result is cancelled or let go of, and runs `changed` on `queue` when there is another server than before; nil where
    /// the kernel does not tell. Opens a socket, on a thread of its own.
    func listen(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        let opened = try? Thread.run { [namespace] in
            (try? namespace.enter()).flatMap { try? (RouterOptionSocket(), NamespaceIdentity.current) }
        }
        guard let (socket, identity) = opened ?? nil else { return nil }
        state.withLock { state in
            // What was announced in another namespace is not about this one.
            if state.identity != identity { state.servers = [:] }
            state.identity = identity
        }
        return ReadSource.watch(socket.descriptor, of: socket, on: queue) { [weak self] in
            self?.take(socket.drain(), on: queue, changed)
        }
    }

    private func take(_ heard: [RouterOptions], on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) {
        var isNews = false
        for message in heard { isNews = take(message) || isNews }
        guard isNews else { return }
        // Each of them makes a round, and anybody on the link may pretend to be a router.
        let wait: Duration? = state.withLock { state in
            guard !state.isTelling else { return nil }
            state.isTelling = true
            return state.told.map { max(.zero, Self.spacing - (.now - $0)) } ?? .zero
        }
        guard let wait else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: wait.nanoseconds))) { [weak self] in
            self?.state.withLock { ($0.told, $0.isTelling) = (.now, false) }
            changed()
        }
    }

    /// Whether it is news.
    func take(_ message: RouterOptions) -> Bool {
        var isNews = false
        for case .captivePortal(let text) in RouterOption.read(message.bytes) {
            // A network that has no portal may say so (RFC 8910, section 2).
            let server = text == Self.unrestricted ? nil : try? CheckOptions.Anchor(text)
            isNews =
                state.withLock { state in
                    defer { state.servers[message.interface] = server }
                    return state.servers[message.interface] != server
                } || isNews
        }
        return isNews
    }

    private static let unrestricted = "urn:ietf:params:capport:unrestricted"
    private static let spacing = Duration.seconds(2)
}
