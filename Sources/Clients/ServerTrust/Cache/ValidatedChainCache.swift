import LinuxSupport

/// A cache of validated chains, so that the next handshake with the same server verifies no signatures. Thread-safe.
///
/// The key of an entry consists of the certificates that the peer sent, in their order, the anchors and the
/// requirements. An entry is valid within the validity period of every certificate of the chain, and for at most
/// `maximumAge` from its creation. Failures are not cached. Host names, pins and revocation are not cached either: they
/// are checked in each evaluation.
public final class ValidatedChainCache: Sendable {
    private struct Key: Hashable {
        let certificates: [TrustCertificate]
        let anchors: TrustAnchors
        let requirements: TrustRequirements
    }

    /// The certificates that a peer sent, each in DER.
    private struct Sent: Hashable {
        let chain: [[UInt8]]

        /// Hashes only the last 16 bytes of each certificate, which are part of its signature, because hashing all
        /// bytes would take longer than the rest of the lookup. Equality compares all bytes.
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

    private let chains: Locked<LRUCache<Key, Entry>>
    private let parsed: Locked<LRUCache<Sent, [TrustCertificate]>>
    private let maximumAge: Duration

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of chains. If the cache is full, the least recently used half is removed. A
    ///     chain takes about 10 KB.
    ///   - maximumAge: The maximum age of an entry, even if its certificates are valid for longer.
    public init(capacity: Int = 256, maximumAge: Duration = .seconds(3600)) {
        chains = Locked(LRUCache(capacity: capacity))
        parsed = Locked(LRUCache(capacity: capacity))
        self.maximumAge = maximumAge
    }

    /// The number of cached chains.
    public var count: Int { chains.withLock { $0.count } }

    /// Removes all entries.
    public func removeAll() {
        chains.withLock { $0.removeAll() }
        parsed.withLock { $0.removeAll() }
    }

    func chain(for trust: ServerTrust) -> ValidatedChain? {
        let key = Self.key(trust)
        return chains.withLock { chains in
            guard let entry = chains[key] else { return nil }
            guard entry.window.contains(trust.time) else {
                // The entry has ended, or the time of this evaluation is before its creation, for example after a clock
                // was set back.
                chains[key] = nil
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
        chains.withLock { $0[key] = entry }
    }

    /// Returns the certificates that were parsed from the same bytes before, or parses them now.
    func certificates(of derEncodedChain: [[UInt8]]) throws(TrustFailure) -> [TrustCertificate] {
        let sent = Sent(chain: derEncodedChain)
        if let certificates = parsed.withLock({ $0[sent] }) { return certificates }
        let certificates = try ServerTrust.read(derEncodedChain)
        parsed.withLock { $0[sent] = certificates }
        return certificates
    }

    private static func key(_ trust: ServerTrust) -> Key {
        Key(certificates: trust.certificates, anchors: trust.anchors, requirements: trust.requirements)
    }
}

/// A dictionary with a maximum number of entries that removes the least recently used ones.
///
/// When it is full, it removes the less recently used half at once. The average cost of an insertion is therefore
/// constant, without a linked list of the entries.
package struct LRUCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Key: (value: Value, used: UInt64)] = [:]
    private var uses: UInt64 = 0
    private let capacity: Int

    /// Creates an empty dictionary. With a capacity of zero or less it remains empty.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { values.count }

    /// The value of a key. Reading and setting it count as uses.
    package subscript(key: Key) -> Value? {
        mutating get {
            guard let index = values.index(forKey: key) else { return nil }
            uses += 1
            values.values[index].used = uses
            return values.values[index].value
        }
        set {
            guard let newValue else { values[key] = nil; return }
            guard capacity > 0 else { return }
            if values.count >= capacity, values[key] == nil { makeRoom() }
            uses += 1
            values[key] = (newValue, uses)
        }
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
