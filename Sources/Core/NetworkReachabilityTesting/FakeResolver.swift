package import Dispatch
package import LinuxSupport
import NetworkReachability

/// A name service whose answers a test sets.
///
/// Thread-safe. A name without an answer does not exist. Addresses are text; a link-local address has the index of its
/// interface as zone (`fe80::1%2`). Text that is not an address ends the program.
public final class FakeResolver: Sendable {
    package typealias Answer = Result<[NameLookup.Address], NameLookup.Failure>

    /// The reason why a name has no address.
    public enum Failure: Hashable, Sendable {
        /// The name service reports that the name does not exist.
        case noSuchName
        /// The name service does not answer.
        case unavailable
    }

    package struct State {
        package var answers: [String: Answer] = [:]
        package var hosts: [String: [NameLookup.Address]] = [:]
        package var held: Set<String> = []
        package var waiting: [String: [@Sendable (Answer) -> Void]] = [:]
        package var questions: [String: Int] = [:]
    }

    package let state = Locked(State())
    package let watchers = Watchers()
    package let queue = DispatchQueue(label: "FakeResolver")

    /// Creates a name service that resolves only `localhost`.
    public init() {}

    /// Sets the addresses of a name, in their order.
    public func set(_ name: String, addresses: [String]) {
        let addresses = addresses.map(FakeResolver.parse)
        state.withLock { $0.answers[FakeResolver.key(name)] = .success(addresses) }
    }

    /// Makes lookups of a name fail.
    public func fail(_ name: String, _ failure: Failure = .unavailable) {
        let failure: NameLookup.Failure =
            failure == .noSuchName ? .noSuchName : .unavailable("Temporary failure in name resolution")
        state.withLock { $0.answers[FakeResolver.key(name)] = .failure(failure) }
    }

    /// Returns the form in which names are compared: lower case, without the final dot of the root (RFC 1034).
    package static func key(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    package static func parse(_ text: String) -> NameLookup.Address {
        let parts = text.split(at: "%", maxSplits: 1)
        let zone = parts.count == 2 ? UInt32(parts[1]) : nil
        guard let first = parts.first, let address = WireAddress(String(first)), parts.count == 1 || zone != nil else {
            fatalError("FakeResolver: \"\(text)\" is not an address")
        }
        return NameLookup.Address(address, zone: zone)
    }
}

extension FakeResolver.State {
    /// Returns the addresses of the hosts file and of `localhost` (RFC 6761).
    fileprivate func localAddresses(_ key: String) -> [NameLookup.Address] {
        if let addresses = hosts[key] { return addresses }
        guard key == "localhost" || key.hasSuffix(".localhost") else { return [] }
        return [NameLookup.Address(.ipv6Loopback), NameLookup.Address(WireAddress(ipv4: 0x7f00_0001))]
    }

    package func answer(_ key: String) -> FakeResolver.Answer {
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

    package func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
    {
        watchers.add(on: queue, changed)
    }
}

/// A set of actions, each of which runs on its queue when something changes.
package final class Watchers: Sendable {
    private struct State {
        var actions: [UInt64: (queue: DispatchQueue, run: @Sendable () -> Void)] = [:]
        var count: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    package func add(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation {
        let id = state.withLock { state in
            state.count += 1
            state.actions[state.count] = (queue, action)
            return state.count
        }
        // An action may own a cancellation, so it is released outside the lock.
        return Cancellation { [weak self] in _ = self?.state.withLock { $0.actions.removeValue(forKey: id) } }
    }

    /// Starts all actions, in the order in which they were added.
    ///
    /// - Parameter waits: True to wait for the end of each action.
    package func run(waits: Bool = false) {
        for (queue, action) in state.withLock({ $0.actions.sorted { $0.key < $1.key }.map(\.value) }) {
            if waits { queue.runAndWait(action) } else { queue.async(execute: action) }
        }
    }
}

extension DispatchQueue {
    /// Runs an action on a thread of the queue.
    func runAndWait(_ action: @escaping @Sendable () -> Void) {
        dispatchPrecondition(condition: .notOnQueue(self))
        let group = DispatchGroup()
        async(group: group) { action() }
        group.wait()
    }
}
