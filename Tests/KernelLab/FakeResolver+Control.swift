public import NetworkReachabilityTesting

extension FakeResolver {
    /// Adds a name to the hosts file. Without addresses, removes it.
    public func setHosts(_ name: String, addresses: [String]) {
        let addresses = addresses.map(FakeResolver.parse)
        state.withLock { $0.hosts[FakeResolver.key(name)] = addresses.isEmpty ? nil : addresses }
    }

    /// Delays the answers to lookups of a name until ``release(_:)``.
    public func hold(_ name: String) {
        _ = state.withLock { $0.held.insert(FakeResolver.key(name)) }
    }

    /// Answers all delayed lookups of a name with its current addresses.
    public func release(_ name: String) {
        let key = FakeResolver.key(name)
        let (waiting, answer) = state.withLock { state in
            state.held.remove(key)
            return (state.waiting.removeValue(forKey: key) ?? [], state.answer(key))
        }
        for completion in waiting { queue.async { completion(answer) } }
    }

    /// Reports a change of the name service's configuration.
    public func changeConfiguration() {
        watchers.run()
    }

    /// The number of lookups of a name.
    public func questionCount(of name: String) -> Int {
        state.withLock { $0.questions[FakeResolver.key(name)] ?? 0 }
    }

    /// The number of delayed lookups of a name.
    public func waitingCount(of name: String) -> Int {
        state.withLock { $0.waiting[FakeResolver.key(name)]?.count ?? 0 }
    }
}

extension ManualClock {
    /// The number of actions that wait.
    public var scheduledCount: Int { state.withLock { $0.timers.count } }

    /// The time until the next action; nil if none waits.
    public var timeToNextAction: Duration? {
        state.withLock { state in state.timers.values.map(\.deadline).min().map { $0 - state.monotonic } }
    }
}
