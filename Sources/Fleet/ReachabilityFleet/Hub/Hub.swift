import LinuxSupport

/// The state and the decisions of a hub. A value without a broker, a store or a clock. Its owner passes messages and
/// the time, and saves and publishes the decisions.
///
/// Times are by the hub's clock, since 1970. Only differences between the times of a machine's clock are used.
package struct Hub: Sendable {
    /// A message from the broker.
    package struct Message: Hashable, Sendable {
        package let topic: String
        package let payload: [UInt8]
        /// True if the message was retained by the broker.
        package let isRetained: Bool
        /// The time of arrival, by the hub's clock.
        package let time: Duration

        package init(topic: String, payload: [UInt8], isRetained: Bool = false, time: Duration) {
            (self.topic, self.payload, self.isRetained, self.time) = (topic, payload, isRetained, time)
        }
    }

    /// A consequence of a message or of the passage of time.
    package enum Decision: Hashable, Sendable {
        /// The record of a machine has changed and has to be saved.
        case noted(DeviceID)
        /// The presence of a machine has changed.
        case stands(DeviceID, DevicePresence.Standing)
        /// The facts about the last absence of a machine have changed.
        case gap(DeviceID)
        case incident(FleetIncidentTracker.Change)
        /// Two machines use one name.
        case disputed(DeviceID)
        /// A machine has to send events again. ``replay(for:)`` returns the request.
        case replayRequired(DeviceID)
        /// A message was refused.
        case refused(topic: String, reason: String)
    }

    /// The maximum number of machines. Messages of further machines are refused.
    package static let deviceLimit = 100_000
    /// The maximum number of machines of one site.
    package static let siteLimit = 25_000
    /// The maximum number of sites with a machine of the same name. A broker may allow a machine to publish under any
    /// site.
    package static let nameLimit = 256
    /// The time after its return in which a machine may still report its outages.
    package static let patience: Duration = .seconds(15 * 60)

    /// The prefix of replay marks; nil if no message can be lost.
    let run: String?
    /// The number of replay marks so far.
    var marks = 0
    /// The machines that were removed and have sent no message since.
    private var forgotten: Set<DeviceID> = []
    package internal(set) var devices: [DeviceID: HubDevice] = [:]
    /// The number of machines of each site, and of each machine name.
    private var counts = (sites: [String: Int](), names: [String: Int]())
    package internal(set) var book = FleetIncidentTracker()
    private var latest: Duration = .zero

    package init() { run = nil }

    /// Continues with the state of an earlier run. The presence of all machines is unknown until their next messages.
    ///
    /// - Parameters:
    ///   - incidents: All open incidents and the latest ended ones.
    ///   - run: An identifier of the process. The broker regards messages as delivered before the hub has saved them.
    ///     The last messages of the previous process may therefore be missing, and all known machines have to send them
    ///     again.
    package init(devices: [HubDevice], incidents: [FleetIncident], run: String? = nil) {
        self.run = run
        for device in devices {
            if self.devices.updateValue(device, forKey: device.place) == nil { count(device.place, 1) }
        }
        requireReplayOfAll()
        book = FleetIncidentTracker(incidents)
        _ = brokerDisconnected()
    }

    /// Takes a message, and returns its consequences.
    ///
    /// - Parameter isKept: Whether an outage of a machine is in an incident that is no longer in memory.
    package mutating func take(
        _ message: Message,
        isKept: (DeviceID, String) -> Bool = { _, _ in false }
    ) -> [Decision] {
        // Messages are in the order of arrival. Setting the clock back does not change that order.
        advance(to: message.time)
        guard let topic = FleetTopic(message.topic) else { return [refusal(message, "not a fleet topic")] }
        guard case .device(let place, let kind) = topic else { return [] }
        do throws(PayloadError) {
            switch kind {
            case .state:
                // An empty message removes the state that the broker had retained.
                if message.payload.isEmpty { return [] }
                guard takeBudget(place) else { throw PayloadError("too many messages") }
                let isNew = devices[place] == nil
                let state = try DeviceState(message.payload)
                if devices[place]?.isOld(state, isRetained: message.isRetained) ?? false { return [] }
                let decisions = try take(state, of: place, isRetained: message.isRetained)
                // A retained state of a machine that the hub does not know means that the machine has sent events
                // before.
                if isNew && message.isRetained || misses(state.report?.acknowledged, of: place) {
                    markForReplay(place)
                }
                let mayAnswer = state.standing == .online && replay(for: place) != nil
                let isReplayDue = mayAnswer && devices[place]?.mayRequestReplay(at: latest) ?? false
                return decisions + (isReplayDue ? [.replayRequired(place)] : [])
            case .event:
                if message.isRetained { throw PayloadError("retained event") }
                guard takeBudget(place) else { throw PayloadError("too many messages") }
                return try take(DeviceEvent(message.payload), of: place, isKept)
            case .detail, .command: return []
            }
        } catch {
            devices[place]?.refused += 1
            return [refusal(message, error.description)]
        }
    }

    /// Advances the time, and returns the consequences.
    package mutating func pass(to now: Duration) -> [Decision] {
        advance(to: now)
        var decisions: [Decision] = []
        let due = devices.values.filter { $0.deadline.map { $0 <= latest } ?? false }
        for place in due.map(\.place).sorted() {
            if case .becameSilent(let since)? = devices[place]?.presence.pass(to: latest) {
                decisions += becameSilent(place, since: since)
            }
            if let gap = devices[place]?.gap, gap.isAwaited, let until = gap.until, latest >= until + Self.patience {
                decisions += changeGap(place) { $0.isGivenUp = true }
            }
        }
        return decisions
    }

    /// The latest time of the next call of ``pass(to:)``; nil if none is needed.
    package var deadline: Duration? { devices.values.lazy.compactMap(\.deadline).min() }

    /// Records that the connection to the broker has ended. The presence of all machines is unknown until their next
    /// messages.
    package mutating func brokerDisconnected() -> [Decision] {
        devices.keys.sorted().flatMap { place in standing(place) { $0.brokerDisconnected() } }
    }

    /// Records that the broker is connected again. A broker that was killed loses messages that it has acknowledged but
    /// not delivered.
    package mutating func brokerConnected(at now: Duration) {
        advance(to: now)
        for place in devices.keys { devices[place]?.presence.brokerConnected(at: latest) }
        requireReplayOfAll()
    }

    /// Removes old ended incidents of a site from memory. They must be in the store before.
    package mutating func prune(_ site: String) { book.prune(site) }

    /// Removes a machine. A later message adds it as a new machine, whose earlier events are not requested.
    package mutating func forget(_ place: DeviceID) -> [Decision] {
        if devices.removeValue(forKey: place) != nil {
            forgotten.insert(place)
            count(place, -1)
        }
        return book.forget(place).map(Decision.incident)
    }

    /// The number of sites.
    package var siteCount: Int { counts.sites.count }

    /// Returns the reason of the last absence of a machine; nil if there was none.
    package func verdict(of place: DeviceID) -> SilenceVerdict? {
        guard let gap = devices[place]?.gap else { return nil }
        return book.verdict(of: place, gap) ?? gap.evidence.verdict
    }

    // MARK: Shared by the extensions

    /// The time of the current message.
    var now: Duration { latest }

    /// Times are whole milliseconds, as in the store.
    private mutating func advance(to time: Duration) {
        latest = max(latest, .milliseconds(time.milliseconds))
    }

    /// Adds a machine. Throws if a limit is reached.
    ///
    /// - Parameter reported: The last log position that the machine has sent.
    mutating func admit(_ place: DeviceID, reported: EventPosition?) throws(PayloadError) {
        if devices[place] != nil { return }
        guard devices.count < Self.deviceLimit else {
            throw PayloadError("the maximum of \(devices.count) machines is reached")
        }
        guard counts.sites[place.site, default: 0] < Self.siteLimit else {
            throw PayloadError("the maximum of \(Self.siteLimit) machines at this site is reached")
        }
        guard counts.names[place.device, default: 0] < Self.nameLimit else {
            throw PayloadError("the maximum of \(Self.nameLimit) sites with a machine of this name is reached")
        }
        devices[place] = HubDevice(place)
        count(place, 1)
        if forgotten.remove(place) != nil, let reported { devices[place]?.log.add(reported) }
    }

    private mutating func count(_ place: DeviceID, _ change: Int) {
        let (site, name) = (
            counts.sites[place.site, default: 0] + change, counts.names[place.device, default: 0] + change
        )
        counts.sites[place.site] = site > 0 ? site : nil
        counts.names[place.device] = name > 0 ? name : nil
    }

    private mutating func takeBudget(_ place: DeviceID) -> Bool { devices[place]?.budget.take(at: latest) ?? true }

    private func refusal(_ message: Message, _ reason: String) -> Decision {
        .refused(topic: String(message.topic.prefix(256)), reason: reason)
    }

    /// Changes the presence of a machine. Returns a decision if the standing has changed.
    mutating func standing(_ place: DeviceID, _ body: (inout DevicePresence) -> Void) -> [Decision] {
        guard let before = devices[place]?.presence.standing else { return [] }
        if var presence = devices[place]?.presence {
            body(&presence)
            devices[place]?.presence = presence
        }
        guard let after = devices[place]?.presence.standing, after != before else { return [] }
        return [.stands(place, after)]
    }

    /// Records that a machine has become silent.
    mutating func becameSilent(_ place: DeviceID, since: Duration) -> [Decision] {
        var gap = DeviceAbsence(since: since, noticed: latest)
        gap.evidence.before = devices[place]?.presence.report
        devices[place]?.gap = gap
        return [.stands(place, .silent), .gap(place)] + note(gap, place)
    }

    /// Changes the facts about the last absence of a machine.
    mutating func changeGap(_ place: DeviceID, _ body: (inout DeviceAbsence) -> Void) -> [Decision] {
        guard var gap = devices[place]?.gap else { return [] }
        body(&gap)
        guard gap != devices[place]?.gap else { return [] }
        devices[place]?.gap = gap
        return [.gap(place)] + note(gap, place)
    }

    private mutating func note(_ gap: DeviceAbsence, _ place: DeviceID) -> [Decision] {
        book.note(gap, of: place).map(Decision.incident)
    }
}

/// Replays of lost messages.
extension Hub {
    /// Records that a message of a machine was dropped.
    package mutating func requireReplay(_ place: DeviceID) -> [Decision] {
        guard run != nil, devices[place] != nil else { return [] }
        markForReplay(place)
        return [.replayRequired(place)]
    }

    /// Returns the replay request for a machine whose events are incomplete; nil for other machines.
    package func replay(for place: DeviceID) -> DeviceReplay? {
        guard let device = devices[place], device.mark != nil || device.presence.standing == .unknown else {
            return nil
        }
        let position = device.log.newest.last
        return DeviceReplay(
            after: position,
            since: device.completeUntil ?? position.map { _ in .zero },
            mark: device.mark
        )
    }

    /// True if a machine has sent an event that the hub does not have.
    func misses(_ position: EventPosition?, of place: DeviceID) -> Bool {
        guard run != nil, let position, let device = devices[place], device.mark == nil else { return false }
        return !device.log.has(position)
    }

    mutating func markForReplay(_ place: DeviceID) {
        let mark = nextMark()
        devices[place]?.mark = mark
    }

    mutating func requireReplayOfAll() {
        guard let mark = nextMark() else { return }
        for place in devices.keys { devices[place]?.mark = mark }
    }

    /// Returns a new replay mark. Each loss has its own mark, because a broker that was killed may deliver an old
    /// replay again.
    private mutating func nextMark() -> String? {
        guard let run else { return nil }
        marks += 1
        return "\(run)-\(marks)"
    }
}
