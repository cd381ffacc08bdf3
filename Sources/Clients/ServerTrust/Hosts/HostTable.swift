/// Values by patterns of hosts; the most specific pattern decides.
struct HostTable<Value: Sendable>: Sendable {
    private var values: [HostPattern: Value] = [:]
    /// The first text that is no pattern, or the first two that are the same. A table with such answers nothing: what was meant is not
    /// known.
    private var fault: TrustFailure?

    init(_ entries: [String: Value]) {
        var texts: [HostPattern: String] = [:]
        for (text, value) in entries.sorted(by: { $0.key < $1.key }) {
            do throws(TrustFailure) {
                let pattern = try HostPattern(text)
                if let other = texts.updateValue(text, forKey: pattern) { throw .equalPatterns(other, text) }
                values[pattern] = value
            } catch {
                fault = fault ?? error
            }
        }
    }

    /// The value for a host, nil if no pattern matches.
    ///
    /// - Throws: `invalidHost`; `invalidPattern` or `equalPatterns` when the table was made with such.
    func value(forHost host: String) throws(TrustFailure) -> Value? {
        if let fault { throw fault }
        return HostPattern.candidates(for: try ServerHost(host)).lazy.compactMap { values[$0] }.first
    }
}
