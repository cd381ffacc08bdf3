import LinuxPrimitives

/// Hosts that have been warned of once in this process. Bounded, for the names come from outside: a flood of them begins anew.
struct WarnedHosts: Sendable {
    static let disabled = WarnedHosts()
    static let lackOfBackup = WarnedHosts()

    private static let limit = 4096
    private let hosts = Locked<Set<String>>([])

    /// False if the host was there already.
    func insert(_ host: String) -> Bool {
        hosts.withLock { hosts in
            if hosts.count >= Self.limit { hosts = [] }
            return hosts.insert(host).inserted
        }
    }
}
