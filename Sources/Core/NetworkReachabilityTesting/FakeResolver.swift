package import Dispatch
package import LinuxSupport
import NetworkReachability

/// A name service whose answers a test sets.
///
/// Thread-safe. A name without an answer does not exist. Addresses are text; a link-local address has the index of its interface as
/// zone (`fe80::1%2`). Text that is not an address ends the program.
public final class FakeResolver: Sendable {
    fileprivate typealias Answer = Result<[NameLookup.Address], NameLookup.Failure>

    /// The reason that a name has no address.
    public enum Failure: Hashable, Sendable {
        /// The name service reports that the name does not exist.
        case noSuchName
        /// The name service does not answer.
        case unavailable
    }

    fileprivate struct State {
        var answers: [String: Answer] = [:]
        var hosts: [String: [NameLookup.Address]] = [:]
        var held: Set<String> = []
        var waiting: [String: [@Sendable (Answer) -> Void]] = [:]
        var watchers: [UInt64: @Sendable () -> Void] = [:]
        var watcherCount: UInt64 = 0
        var questions: [String: Int] = [:]
    }

    fileprivate let state = Locked(State())
    let queue = DispatchQueue(label: "FakeResolver")

    /// A name service that knows only `localhost`.
    public init() {}

    /// Sets the addresses of a name, in their order.
    public func set(_ name: String, addresses: [String]) {
        let addresses = addresses.map(FakeResolver.parse)
        state.withLock { $0.answers[FakeResolver.key(name)] = .success(addresses) }
    }

    /// Adds a name to the hosts file. Without addresses, removes it.
    public func setHosts(_ name: String, addresses: [String]) {
        let addresses = addresses.map(FakeResolver.parse)
        state.withLock { $0.hosts[FakeResolver.key(name)] = addresses.isEmpty ? nil : addresses }
    }

    /// Lets lookups of a name fail.
    public func fail(_ name: String, _ failure: Failure = .unavailable) {
        let failure: NameLookup.Failure =
            failure == .noSuchName ? .noSuchName : .unavailable("Temporary failure in name resolution")
        state.withLock { $0.answers[FakeResolver.key(name)] = .failure(failure) }
    }

    /// Delays the answers to lookups of a name until ``release(_:)``.
    public func hold(_ name: String) {
        _ = state.withLock { $0.held.insert(FakeResolver.key(name)) }
    }

    /// Answers all delayed lookups of a name with its current addresses.
    public func release(_ name: String) {
        let key = FakeResolver.key(name)
        let (waiting, answer) = state.withLock { state in
            state.held.remove(key)
            return (state.waiting.removeValue(forKey: key) ?? [], state.answer(key))
        }
        for completion in waiting { queue.async { completion(answer) } }
    }

    /// Reports a change of the name service's configuration.
    public func changeConfiguration() {
        for changed in state.withLock({ Array($0.watchers.values) }) { changed() }
    }

    /// The number of lookups of a name.
    public func questionCount(of name: String) -> Int {
        state.withLock { $0.questions[FakeResolver.key(name)] ?? 0 }
    }

    /// The number of delayed lookups of a name.
    public func waitingCount(of name: String) -> Int {
        state.withLock { $0.waiting[FakeResolver.key(name)]?.count ?? 0 }
    }

    /// Names are compared without case and without the dot of the root (RFC 1034).
    fileprivate static func key(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    private static func parse(_ text: String) -> NameLookup.Address {
        let parts = text.split(at: "%", maxSplits: 1)
        let zone = parts.count == 2 ? UInt32(parts[1]) : nil
        guard let first = parts.first, let address = WireAddress(String(first)), parts.count == 1 || zone != nil else {
            fatalError("FakeResolver: \"\(text)\" is not an address")
        }
        return NameLookup.Address(address, zone: zone)
    }
}

extension FakeResolver.State {
    /// The hosts file and `localhost` (RFC 6761).
    fileprivate func localAddresses(_ key: String) -> [NameLookup.Address] {
        if let addresses = hosts[key] { return addresses }
        guard key == "localhost" || key.hasSuffix(".localhost") else { return [] }
        return [NameLookup.Address(.ipv6Loopback), NameLookup.Address(WireAddress(ipv4: 0x7f00_0001))]
    }

    fileprivate func answer(_ key: String) -> FakeResolver.Answer {
        let addresses = localAddresses(key)
        return addresses.isEmpty ? answers[key] ?? .failure(.noSuchName) : .success(addresses)
    }
}

extension FakeResolver: HostResolver {
    package func localAddresses(of name: String) -> [NameLookup.Address] {
        let key = FakeResolver.key(name)
        return state.withLock { $0.localAddresses(key) }
    }

    package func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    ) {
        let key = FakeResolver.key(name)
        let answer: Answer? = state.withLock { state in
            state.questions[key, default: 0] += 1
            guard state.held.contains(key) else { return state.answer(key) }
            state.waiting[key, default: []].append(completion)
            return nil
        }
        if let answer { queue.async { completion(answer) } }
    }

    package func watchConfiguration(
        on queue: DispatchQueue,
        _ changed: @escaping @Sendable () -> Void
    ) -> Cancellation? {
        let id = state.withLock { state in
            state.watcherCount += 1
            state.watchers[state.watcherCount] = { queue.async { changed() } }
            return state.watcherCount
        }
        return Cancellation { [weak self] in _ = self?.state.withLock { $0.watchers.removeValue(forKey: id) } }
    }
}
