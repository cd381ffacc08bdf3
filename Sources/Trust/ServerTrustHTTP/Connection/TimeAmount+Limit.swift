import NIOCore

extension TimeAmount {
    /// A limit that no arithmetic of deadlines overflows with: a hundred years are for ever.
    init(limit: Duration) {
        self = TimeAmount(min(max(limit, .zero), .seconds(100 * 365 * 86_400)))
    }
}
