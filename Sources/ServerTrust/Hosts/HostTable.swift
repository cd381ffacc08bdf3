/// Values by patterns of hosts; the most specific pattern decides.
struct HostTable<Value: Sendable>: Sendable {
    private var values: [HostPattern: Value] = [:]
    /// The first text that is no pattern. A table with one answers nothing: what it was meant for is not known.
    private var invalid: String?

    init(_ entries: [String: Value]) {
        for (text, value) in entries.sorted(by: { $0.key < $1.key }) {
            do {
                values[try HostPattern(text)] = value
            } catch {
                invalid = invalid ?? text
            }
        }
    }

    /// The value for a host, nil if no pattern matches.
    ///
    /// - Throws: `invalidHost`; `invalidPattern` when the table was made with one.
    func value(forHost host: String) throws(TrustFailure) -> Value? {
        if let invalid { throw .invalidPattern(invalid) }
        return HostPattern.candidates(for: try ServerHost(host)).lazy.compactMap { values[$0] }.first
    }
}
