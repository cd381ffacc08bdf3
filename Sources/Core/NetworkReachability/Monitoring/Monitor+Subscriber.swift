extension Monitor.Subscriber {
    /// Says what it is to be notified of, and what it holds back.
    mutating func offer(
        _ path: NetworkPath,
        _ origin: Monitor.Origin,
        _ settling: inout Settling?,
        _ actions: inout [Monitor.Action]
    ) {
        if last == nil, waits(forName: path, &actions) { return }
        guard let last, settling != nil else {
            if let last, !subscription.interest.isChange(path, after: last) { return }
            let change = PathChange(
                path: path,
                previous: last,
                noticed: origin.noticed,
                completed: origin.completed,
                remover: origin.remover
            )
            actions.append(.notify(subscription, change))
            self.last = path
            return
        }
        defer { isDue = false }
        guard let step = settling?.take(path, after: last, isDue: isDue) else { return }
        if let change = step.notifying {
            actions.append(.notify(subscription, PathChange(path: change, previous: last)))
            self.last = change
        }
        let timer = MonitorTimer.settled(ObjectIdentifier(subscription), subscription.record.id)
        switch step.wait {
        case .goesOn: break
        case .ends: actions.append(.cancel(timer))
        case .begins(let pause): actions.append(.schedule(timer, after: pause))
        }
    }

    /// Whether the first notification still waits for the name of the host, as synchronous questions do.
    private mutating func waits(forName path: NetworkPath, _ actions: inout [Monitor.Action]) -> Bool {
        let timer = MonitorTimer.nameWait(ObjectIdentifier(subscription), subscription.record.id)
        guard path.reason == .resolving else {
            if nameWait == .runs { actions.append(.cancel(timer)) }
            nameWait = .isOver
            return false
        }
        if nameWait == .isToBegin {
            actions.append(.schedule(timer, after: subscription.nameWait))
            nameWait = .runs
        }
        return nameWait == .runs
    }
}
