import Dispatch
import LinuxPrimitives
import Netlink

/// A name service that tests play.
///
/// Thread-safe. Names it was not given do not exist. Addresses are text, link-local ones with the index of their
/// link as zone (`fe80::1%2`); text that is no address ends the program.
public final class FakeResolver: Sendable {
    typealias Answer = Result<[NameLookup.Address], NameLookup.Failure>

    struct State: Sendable {
        var answers: [String: Answer] = [:]
        var hosts: [String: [NameLookup.Address]] = [:]
        var held: Set<String> = []
        var waiting: [String: [@Sendable (Answer) -> Void]] = [:]
        var watchers: [UInt64: @Sendable () -> Void] = [:]
        var nextWatcher: UInt64 = 0
        var questions: [String: Int] = [:]
    }

    let state = Locked(State())
    /// Where answers are given.
    let queue = DispatchQueue(label: "FakeResolver")

    /// A name service that knows `localhost` and nothing else.
    public init() {}

    /// Lets the name service answer with these addresses, in this order.
    public func set(_ name: String, addresses: [String]) {
        let addresses = addresses.map(FakeResolver.parse)
        state.withLock { $0.answers[FakeResolver.key(name)] = .success(addresses) }
    }

    /// Writes a name into the hosts file; no addresses take it out.
    public func setHosts(_ name: String, addresses: [String]) {
        let addresses = addresses.map(FakeResolver.parse)
        state.withLock { $0.hosts[FakeResolver.key(name)] = addresses.isEmpty ? nil : addresses }
    }

    /// Lets the name service have no answer for a name.
    public func fail(_ name: String, _ failure: Failure = .unavailable) {
        state.withLock { $0.answers[FakeResolver.key(name)] = .failure(failure.failure) }
    }

    /// Keeps whoever asks for a name waiting until it is released.
    public func hold(_ name: String) {
        _ = state.withLock { $0.held.insert(FakeResolver.key(name)) }
    }

    /// Answers everybody who waits for a name, with what is known of it now.
    public func release(_ name: String) {
        let key = FakeResolver.key(name)
        let (waiting, answer) = state.withLock { state in
            state.held.remove(key)
            return (state.waiting.removeValue(forKey: key) ?? [], state.answer(key))
        }
        for completion in waiting { queue.async { completion(answer) } }
    }

    /// Tells everybody who watches that the name service is set up differently now.
    public func changeConfiguration() {
        for changed in state.withLock({ Array($0.watchers.values) }) { changed() }
    }

    /// How often a name was asked for.
    public func questionCount(of name: String) -> Int {
        state.withLock { $0.questions[FakeResolver.key(name)] ?? 0 }
    }

    /// How many questions for a name wait for its release.
    public func waitingCount(of name: String) -> Int {
        state.withLock { $0.waiting[FakeResolver.key(name)]?.count ?? 0 }
    }

    /// Names are compared without case and without the dot of the root (RFC 1034).
    static func key(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    private static func parse(_ text: String) -> NameLookup.Address {
        let parts = text.split(at: "%", maxSplits: 1)
        let zone = parts.count == 2 ? UInt32(parts[1]) : nil
        guard let first = parts.first, let address = WireAddress(String(first)), parts.count == 1 || zone != nil else {
            fatalError("FakeResolver: \"\(text)\" is no address")
        }
        return NameLookup.Address(address, zone: zone)
    }
}

extension FakeResolver.State {
    /// The hosts file and `localhost` (RFC 6761).
    func localAddresses(_ key: String) -> [NameLookup.Address] {
        if let addresses = hosts[key] { return addresses }
        guard key == "localhost" || key.hasSuffix(".localhost") else { return [] }
        return [NameLookup.Address(.ipv6Loopback), NameLookup.Address(WireAddress(ipv4: 0x7f00_0001))]
    }

    func answer(_ key: String) -> FakeResolver.Answer {
        let addresses = localAddresses(key)
        return addresses.isEmpty ? answers[key] ?? .failure(.noSuchName) : .success(addresses)
    }
}

extension FakeResolver {
    /// Why a name has no address.
    public enum Failure: Hashable, Sendable {
        /// The name service says so.
        case noSuchName
        /// The name service could not be asked.
        case unavailable

        var failure: NameLookup.Failure {
            switch self {
            case .noSuchName: .noSuchName
            case .unavailable: .unavailable("Temporary failure in name resolution")
            }
        }
    }
}
