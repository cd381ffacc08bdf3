import LinuxSupport

extension Telling {
    /// How it goes with each notifier, in the order of the configuration.
    package var status: [NotifierStatus] {
        let now = source.now()
        return state.withLock { state in
            let names = state.settings.map(\.name) + (state.heartbeat == nil ? [] : ["heartbeat"])
            return names.compactMap { name in
                var status = state.statuses[name]
                for courier in state.couriers.values where courier.notifier.name == name {
                    status?.pending += state.book.incidents.count {
                        $0.next(for: courier.key, of: courier.notifier, at: now) != nil
                    }
                }
                return status
            }
        }
    }

    /// Counts what an attempt came to, and tells of a failure that is another than the last.
    func count(_ courier: String, _ failure: DeliveryFailure?, isFinal: Bool) {
        let time = source.real()
        let isNews = state.withLock { state in
            let name = state.couriers[courier]?.notifier.name ?? courier
            guard var status = state.statuses[name] else { return false }
            defer { state.statuses[name] = status }
            let before = status.failure
            status.failure = failure?.text
            status.failureTime = failure == nil ? nil : time
            switch failure {
            case nil: status.delivered += 1
            case _? where isFinal: status.refused += 1
            case _?: status.postponed += 1
            }
            return failure != nil && failure?.text != before
        }
        if isNews, let failure {
            let name = state.withLock { $0.couriers[courier]?.notifier.name } ?? courier
            report("\(name) could not be told: \(failure.text)".printable)
        }
    }
}
