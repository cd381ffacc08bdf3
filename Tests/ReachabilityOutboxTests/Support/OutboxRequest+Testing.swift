import ReachabilityOutbox

extension OutboxRequest {
    /// A request that says which it is.
    static func named(_ name: String, to host: String = "one.example") -> OutboxRequest {
        OutboxRequest("POST", "https://\(host)/orders?token=hush", body: Array(name.utf8))
    }
}
