import LinuxPrimitives

/// What a check is waiting for, for whoever watches it. Thread-safe.
package final class ProbesOut: Sendable {
    private let counts = Locked<[String: Int]>([:])

    package init() {}

    /// In a few words each, in the order of the alphabet.
    package var names: [String] { counts.withLock { $0.keys.sorted() } }

    /// Counts the work among what is waited for.
    func during<Value: Sendable>(_ name: String, _ work: @Sendable () async -> Value) async -> Value {
        counts.withLock { $0[name, default: 0] += 1 }
        defer {
            counts.withLock { counts in
                let rest = counts[name, default: 1] - 1
                counts[name] = rest > 0 ? rest : nil
            }
        }
        return await work()
    }
}
