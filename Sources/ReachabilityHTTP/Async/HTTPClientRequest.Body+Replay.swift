import AsyncHTTPClient

extension HTTPClientRequest.Body {
    /// Whether the body can be sent any number of times: bytes in memory, and not a sequence that is read once.
    ///
    /// async-http-client knows, for it has to when it follows redirects, but does not tell: this looks at how the body is made
    /// up. What is not recognised counts as a stream, so the worst that a new version can do is that a body is not sent again.
    var isReplayable: Bool {
        guard let mode = Mirror(reflecting: self).descendant("mode") else { return false }
        let parts = Mirror(reflecting: mode).children
        switch parts.first?.label {
        case "byteBuffer": return true
        case "sequence":
            let details = parts.first.map { Mirror(reflecting: $0.value) }
            return details?.descendant("canBeConsumedMultipleTimes") as? Bool ?? false
        default: return false
        }
    }
}
