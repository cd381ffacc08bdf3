package import ReachabilityLedger

extension Incident {
    /// How often an outage that lasts is told of again.
    static let digestPause: Duration = .seconds(86_400)
    /// What is told later than this is told late.
    static let promptness: Duration = .seconds(10)

    /// What a courier is to tell now.
    package func next(for courier: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        guard let part = part(of: notifier) else { return nil }
        if finished.contains(courier), !isOpenAgain(for: courier) { return nil }
        guard let told = told[courier] else { return part.first(for: courier, of: notifier, at: now) }
        if let end = part.end { return part.notification(.ended, told.endings + 1, after: told, due: end, at: now) }
        if finished.contains(courier) || part.state.attribution != told.labels.attribution {
            let due = part.since + part.patience(of: notifier)
            guard due <= now else { return nil }
            return part.notification(.refined, told.refinements + 1, after: told, due: due, at: now)
        }
        let days = Int((now - part.start) / Self.digestPause)
        guard days > told.digests else { return nil }
        let due = part.start + Self.digestPause * days
        return part.notification(.digest, days, after: told, due: due, at: now)
    }

    /// What lasts as a courier has told it: for those that are to be told again and again.
    package func standing(for courier: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        guard !finished.contains(courier), let told = told[courier], let part = part(of: notifier), !part.isOver else {
            return nil
        }
        return part.notification(.began, after: told, due: now, at: now)
    }

    /// When that changes by itself; nil where it does not.
    package func nextDue(for courier: String, of notifier: NotifierSettings, after now: LedgerInstant) -> LedgerInstant?
    {
        if finished.contains(courier), !isOpenAgain(for: courier) { return nil }
        guard let part = part(of: notifier), !part.isOver else { return nil }
        guard let told = told[courier] else {
            guard part.isWanted(by: notifier) else { return nil }
            let due = part.known + part.patience(of: notifier)
            return due > now ? due : nil
        }
        if finished.contains(courier) || part.state.attribution != told.labels.attribution {
            return part.since + part.patience(of: notifier)
        }
        return part.start + Self.digestPause * (Int((now - part.start) / Self.digestPause) + 1)
    }

    /// Whether a courier need not be told anything more of it.
    package func isDone(for courier: String, of notifier: NotifierSettings) -> Bool {
        guard !finished.contains(courier), let part = part(of: notifier) else { return true }
        guard let end = part.end else { return false }
        return told[courier] == nil && !tried.contains(courier)
            && (!part.isWanted(by: notifier) || end - part.known < part.patience(of: notifier))
    }

    /// A courier begins to tell something of it.
    package mutating func tries(by courier: String) { tried.insert(courier) }

    /// A courier has told something, or will never be able to.
    package mutating func told(_ notification: Notification, by courier: String) {
        let labels = notification.incident.state.labels
        var told = told[courier] ?? Told(labels: labels)
        told.labels = labels
        switch notification.event {
        case .began: break
        case .refined:
            told.refinements = notification.number
            finished.remove(courier)
        case .digest: told.digests = notification.number
        case .ended:
            told.endings = notification.number
            finished.insert(courier)
        }
        self.told[courier] = told
    }

    /// The first that a notifier hears of it: that it is over, where it was over before anybody could be told.
    private func first(for courier: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        let patience = patience(of: notifier)
        let (due, isWanted) = (known + patience, isWanted(by: notifier))
        guard let end else { return isWanted && due <= now ? notification(.began, due: due, at: now) : nil }
        guard tried.contains(courier) || isWanted && end - known >= patience else { return nil }
        return notification(.ended, due: due, at: now, isDelayed: true)
    }

    /// Whether a notifier is to hear of it at all.
    private func isWanted(by notifier: NotifierSettings) -> Bool {
        notifier.only.contains(state.attribution) && !(machines?.isHarmless ?? false)
    }

    /// Whether it goes on, of which a courier has told that it is over: what befell a fleet may, for machines tell late.
    private func isOpenAgain(for courier: String) -> Bool { machines != nil && !isOver && told[courier] != nil }

    /// How long it lasts before it is told: what one of its targets has waited for is told with all that fell with it.
    private func patience(of notifier: NotifierSettings) -> Duration {
        members.map { notifier.settle[$0.target] ?? notifier.after }.min() ?? notifier.after
    }

    private func notification(
        _ event: Notification.Event,
        _ number: Int = 1,
        after told: Told? = nil,
        due: LedgerInstant,
        at now: LedgerInstant,
        isDelayed: Bool = false
    ) -> Notification {
        Notification(
            event: event,
            incident: self,
            number: number,
            due: due,
            previous: told?.labels,
            isDelayed: isDelayed || now - due > Self.promptness
        )
    }
}
