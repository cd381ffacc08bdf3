import LinuxSupport
public import NetworkReachability

/// Reachability from the kernel, from `NetworkReachabilityManager`. Uses one manager and one listener for each
/// host that retries wait for. Thread-safe.
public struct NetlinkReachabilityProvider: ReachabilityProvider {
    private let makeManager: @Sendable (String?) -> NetworkReachabilityManager?
    /// The managers of the network at large and of addresses, by host. The manager of the network at large keeps the
    /// monitor that all managers share.
    private let kept = Locked<[String?: Kept]>([:])

    /// The maximum number of managers that are kept.
    private static let keptPlaces = 256

    private struct Kept {
        let manager: NetworkReachabilityManager
        /// The subscription that makes the monitor follow the host. Created by the second query.
        var token: NetworkReachabilityToken?
    }

    /// Creates a provider that queries the kernel.
    ///
    /// - Parameter options: The options of the managers, except `nameResolutionWait`, because no query waits for the
    ///   name service.
    public init(options: NetworkReachabilityOptions = NetworkReachabilityOptions()) {
        var options = options
        options.nameResolutionWait = .zero
        self.init { [options] host in
            guard let host else { return try? NetworkReachabilityManager(options: options) }
            return try? NetworkReachabilityManager(host: host, options: options)
        }
    }

    /// Creates a source that uses other managers, for example managers with a fake kernel.
    ///
    /// - Parameter makeManager: Creates the manager of a host, or of the network at large if the host is nil. If it
    ///   returns nil, the reachability is unknown, and retries wait only for the backoff.
    public init(makeManager: @escaping @Sendable (_ host: String?) -> NetworkReachabilityManager?) {
        self.makeManager = makeManager
    }

    /// Starts following a host.
    public func watch(
        _ host: String?,
        _ listener: @escaping @Sendable (HostReachability) -> Void
    ) -> any ReachabilityWatch {
        ManagerWatch(makeManager(host), listener)
    }

    /// Returns the reachability of an address or of the network at large. Queries no name server. For a host name, returns
    /// the reachability of the network at large if that is not reachable, otherwise unknown.
    ///
    /// The first call queries the kernel. From the second call on, the monitor follows the address, and the kernel is
    /// queried only after it has reported a change.
    public func reachability(of host: String?) -> HostReachability {
        if let host, kept.withLock({ $0[host] }) != nil || IPAddress(host) != nil {
            return path(of: host).map { HostReachability($0) } ?? .unknown
        }
        guard let path = path(of: nil), host == nil || path.status == .notReachable else { return .unknown }
        return HostReachability(path)
    }

    /// Returns whether packets to the address stay on this machine, according to the kernel's route lookup.
    public func isLocal(_ address: String) -> Bool {
        guard IPAddress(address) != nil, let flags = makeManager(address)?.path.flags else { return true }
        return flags.contains(.isLocalAddress)
    }

    /// Returns addresses of documentation prefixes that have the same route as the network at large.
    public func unassignedAddresses() -> [String] {
        guard let atLarge = manager(of: nil)?.options.addressesAtLarge else { return [] }
        return UnassignedAddress.choose(towards: atLarge) { manager(of: $0.description) }.map(\.description)
    }

    private func manager(of place: String?) -> NetworkReachabilityManager? {
        kept.withLock { $0[place]?.manager } ?? makeManager(place)
    }

    private func path(of place: String?) -> NetworkPath? {
        guard let known = kept.withLock({ $0[place] }) else {
            guard let manager = makeManager(place) else { return nil }
            kept.withLock { kept in
                if place == nil || kept.count < Self.keptPlaces { kept[place] = Kept(manager: manager) }
            }
            return manager.path
        }
        if known.token == nil {
            let token = known.manager.addPathListener(for: .egress, onQueue: nil) { _ in }
            kept.withLock { $0[place]?.token = token }
        }
        return known.manager.knownPath ?? known.manager.path
    }
}

/// A manager and its listener.
private final class ManagerWatch: ReachabilityWatch {
    private struct State {
        var token: NetworkReachabilityToken?
        /// The status that the latest subscription delivered last; nil before its first delivery.
        var notified: NetworkReachabilityStatus?
        /// The number of the latest subscription. Deliveries of earlier subscriptions are ignored.
        var number = 0
    }

    private let manager: NetworkReachabilityManager?
    private let listener: @Sendable (HostReachability) -> Void
    private let state: Locked<State> = Locked(State())

    init(_ manager: NetworkReachabilityManager?, _ listener: @escaping @Sendable (HostReachability) -> Void) {
        self.manager = manager
        self.listener = listener
        subscribe()
    }

    /// Returns the current reachability. A listener receives changes only. If this query sees a loss that ends before the
    /// listener is called, the listener would receive nothing. Therefore it is subscribed again: a new listener always
    /// receives the current path.
    func currentReachability() -> HostReachability {
        guard let manager else { return .unknown }
        let path = manager.path
        if let notified = state.withLock({ $0.notified }), notified != path.status { subscribe() }
        return HostReachability(path)
    }

    private func subscribe() {
        let number = state.withLock { state in
            state.number += 1
            state.notified = nil
            return state.number
        }
        let token = manager?.addPathListener(for: .egress, onQueue: nil) { [weak self] path in
            self?.update(path, number)
        }
        let previous = state.withLock { state in
            guard state.number == number else { return token }
            defer { state.token = token }
            return state.token
        }
        previous?.cancel()
    }

    private func update(_ path: NetworkPath, _ number: Int) {
        let isLatest = state.withLock { state in
            guard state.number == number else { return false }
            state.notified = path.status
            return true
        }
        if isLatest { listener(HostReachability(path)) }
    }
}

extension HostReachability {
    /// Creates the reachability that corresponds to a network path.
    public init(_ path: NetworkPath) {
        self.init(
            status: Status(path.status),
            reason: path.reason.map { Reason(rawValue: $0.rawValue, words: $0.description) },
            generation: path.generation,
            source: path.source?.description
        )
    }
}

extension HostReachability.Status {
    fileprivate init(_ status: NetworkReachabilityStatus) {
        self =
            switch status {
            case .unknown: .unknown
            case .notReachable: .notReachable
            case .reachable: .reachable
            }
    }
}
