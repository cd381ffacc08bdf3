import LinuxSupport

/// Remembers chains that were found valid, so that the next handshake with the same server checks no signature. Any number of
/// threads may share one.
///
/// An entry is for the certificates a peer sent, in their order, the anchors and the requirements. It counts from the latest beginning
/// to the earliest end of the chain's certificates, and not after `maximumAge` from when it was made. Failures are not remembered.
/// Host names, pins and revocation are not part of it: they are looked at each time.
public final class ValidatedChainCache: Sendable {
    private struct Key: Hashable {
        let certificates: [TrustCertificate]
        let anchors: TrustAnchors
        let requirements: TrustRequirements
    }

    /// What a peer sent, each certificate in DER.
    private struct Sent: Hashable {
        let chain: [[UInt8]]

        /// Only where each ends, which is its signature: to hash all of it would take longer than all the rest. Whether they are the
        /// same is asked of all bytes.
        func hash(into hasher: inout Hasher) {
            for certificate in chain {
                for byte in certificate.suffix(16) { hasher.combine(byte) }
            }
        }
    }

    private struct Entry {
        let chain: ValidatedChain
        let window: ClosedRange<TrustTime>
    }

    private struct State {
        var chains: RecentValues<Key, Entry>
        var sent: RecentValues<Sent, [TrustCertificate]>
    }

    private let state: Locked<State>
    private let maximumAge: Duration

    /// - Parameters:
    ///   - capacity: The most chains it keeps; the one not used for longest goes first. About 10 KB each.
    ///   - maximumAge: How long one is good at most, whatever its certificates say.
    public init(capacity: Int = 256, maximumAge: Duration = .seconds(3600)) {
        state = Locked(
            State(chains: RecentValues(capacity: max(0, capacity)), sent: RecentValues(capacity: max(0, capacity)))
        )
        self.maximumAge = maximumAge
    }

    /// How many chains are kept.
    public var count: Int { state.withLock { $0.chains.count } }

    /// Forgets everything.
    public func removeAll() {
        state.withLock {
            $0.chains.removeAll()
            $0.sent.removeAll()
        }
    }

    func chain(for trust: ServerTrust) -> ValidatedChain? {
        let key = Self.key(trust)
        return state.withLock { state in
            guard let entry = state.chains[key] else { return nil }
            guard entry.window.contains(trust.time) else {
                // Over, or the time is another's: a clock that was set back.
                state.chains.remove(key)
                return nil
            }
            return entry.chain
        }
    }

    func insert(_ chain: ValidatedChain, for trust: ServerTrust) {
        guard chain.validity.contains(trust.time) else { return }
        let end = min(chain.validity.upperBound, trust.time.advanced(by: maximumAge))
        let entry = Entry(chain: chain, window: trust.time...max(trust.time, end))
        let key = Self.key(trust)
        state.withLock { $0.chains.insert(entry, for: key) }
    }

    /// What was read from the same bytes before, else what is read now.
    func certificates(of derEncodedChain: [[UInt8]]) throws(TrustFailure) -> [TrustCertificate] {
        let sent = Sent(chain: derEncodedChain)
        if let certificates = state.withLock({ $0.sent[sent] }) { return certificates }
        let certificates = try ServerTrust.read(derEncodedChain)
        state.withLock { $0.sent.insert(certificates, for: sent) }
        return certificates
    }

    private static func key(_ trust: ServerTrust) -> Key {
        Key(certificates: trust.certificates, anchors: trust.anchors, requirements: trust.requirements)
    }
}

/// A bounded number of values by keys; the one not used for longest makes room.
///
/// When it is full, half of it goes at once, the older half: so each value costs a constant on average without a list through them.
struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Key: (value: Value, used: UInt64)] = [:]
    private var uses: UInt64 = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { values.count }

    /// The value of a key, which counts as used now.
    subscript(key: Key) -> Value? {
        mutating get {
            guard let index = values.index(forKey: key) else { return nil }
            uses += 1
            values.values[index].used = uses
            return values.values[index].value
        }
    }

    mutating func insert(_ value: Value, for key: Key) {
        guard capacity > 0 else { return }
        if values.count >= capacity, values[key] == nil { makeRoom() }
        uses += 1
        values[key] = (value, uses)
    }

    mutating func remove(_ key: Key) {
        values[key] = nil
    }

    mutating func removeAll() {
        values = [:]
    }

    private mutating func makeRoom() {
        let uses = values.values.map(\.used).sorted()
        let middle = uses[uses.count / 2]
        values = values.filter { $0.value.used > middle }
    }
}
