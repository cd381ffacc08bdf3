import LinuxSupport

/// The state and the decisions of a hub. A value without a broker, a store and a clock: its owner passes messages and the time, and saves
/// and publishes the decisions.
///
/// Its clock is the hub's own, since 1970; machines' clocks only count for how far apart their times are.
package struct Hub: Sendable {
    /// One message, as the broker hands it over.
    package struct Message: Hashable, Sendable {
        package let topic: String
        package let payload: [UInt8]
        /// Whether the message was retained by the broker.
        package let isRetained: Bool
        /// When it came, by the hub's clock.
        package let time: Duration

        package init(topic: String, payload: [UInt8], isRetained: Bool = false, time: Duration) {
            (self.topic, self.payload, self.isRetained, self.time) = (topic, payload, isRetained, time)
        }
    }

    /// A consequence of a message or of the time.
    package enum Decision: Hashable, Sendable {
        /// The record of a machine has changed and has to be saved.
        case noted(FleetPlace)
        /// The presence of a machine has changed.
        case stands(FleetPlace, DevicePresence.Standing)
        /// The facts about the last absence of a machine have changed.
        case gap(FleetPlace)
        case incident(FleetIncidentTracker.Change)
        /// Two machines use one name.
        case disputed(FleetPlace)
        /// A machine has to send events again: ``replay(for:)``.
        case behind(FleetPlace)
        /// A message was refused.
        case refused(topic: String, reason: String)
    }

    /// The maximum number of machines. The messages of further ones are refused.
    package static let deviceLimit = 100_000
    /// The maximum number of machines of one site.
    package static let siteLimit = 25_000
    /// The maximum number of sites at which a machine of one name is known: a broker may let a machine name any site.
    package static let nameLimit = 256
    /// The time that a machine has to report its outages after its return.
    package static let patience: Duration = .seconds(15 * 60)

    /// The prefix of the marks of replays; nil if no message can be lost.
    let run: String?
    /// The number of marks so far.
    var marks = 0
    /// Machines that were forgotten and not heard since.
    private var forgotten: Set<FleetPlace> = []
    package internal(set) var devices: [FleetPlace: HubDevice] = [:]
    /// The number of machines of each site, and of each name.
    private var counts = (sites: [String: Int](), names: [String: Int]())
    package internal(set) var book = FleetIncidentTracker()
    private var latest: Duration = .zero

    package init() { run = nil }

    /// Continues with the state of an earlier run. The presence of all machines is unknown until their next messages.
    ///
    /// - Parameters:
    ///   - incidents: All open incidents and the latest ended ones.
    ///   - run: An identifier of the process. The broker regards messages as delivered before they are saved, so the last messages of the
    ///     previous process may be missing, and all known machines have to send them again.
    package init(devices: [HubDevice], incidents: [FleetIncident], run: String? = nil) {
        self.run = run
        for device in devices {
            if self.devices.updateValue(device, forKey: device.place) == nil { count(device.place, 1) }
        }
        allFallBehind()
        book = FleetIncidentTracker(incidents)
        _ = brokerWasLost()
    }

    /// Takes a message.
    ///
    /// - Parameter isKept: Whether an outage of a machine is in an incident that is no longer in memory.
    package mutating func take(
        _ message: Message,
        isKept: (FleetPlace, String) -> Bool = { _, _ in false }
    ) -> [Decision] {
        // The order is that in which messages came; a clock that is set back does not change it.
        advance(to: message.time)
        guard let topic = FleetTopic(message.topic) else { return [refusal(message, "no topic of a fleet")] }
        guard case .device(let place, let kind) = topic else { return [] }
        do throws(PayloadError) {
            switch kind {
            case .state:
                // An empty one takes away what the broker had kept.
                if message.payload.isEmpty { return [] }
                guard afford(place) else { throw PayloadError("too many messages") }
                let isNew = devices[place] == nil
                let state = try DeviceState(message.payload)
                if devices[place]?.isOld(state, isRetained: message.isRetained) ?? false { return [] }
                let decisions = try take(state, of: place, isRetained: message.isRetained)
                // A machine that the broker knows and the hub does not has sent events before.
                if isNew && message.isRetained || misses(state.report?.acknowledged, of: place) {
                    fallBehind(alone: place)
                }
                let mayAnswer = state.standing == .online && replay(for: place) != nil
                let isAsked = mayAnswer && devices[place]?.mayBeAsked(at: latest) ?? false
                return decisions + (isAsked ? [.behind(place)] : [])
            case .event:
                if message.isRetained { throw PayloadError("an event that was retained") }
                guard afford(place) else { throw PayloadError("too many messages") }
                return try take(DeviceEvent(message.payload), of: place, isKept)
            case .detail, .command: return []
            }
        } catch {
            devices[place]?.refused += 1
            return [refusal(message, error.description)]
        }
    }

    /// Advances the time.
    package mutating func pass(to now: Duration) -> [Decision] {
        advance(to: now)
        var decisions: [Decision] = []
        let due = devices.values.filter { $0.deadline.map { $0 <= latest } ?? false }
        for place in due.map(\.place).sorted() {
            if case .fell(let since)? = devices[place]?.presence.pass(to: latest) {
                decisions += fell(place, since: since)
            }
            if let gap = devices[place]?.gap, gap.isAwaited, let until = gap.until, latest >= until + Self.patience {
                decisions += changeGap(place) { $0.isGivenUp = true }
            }
        }
        return decisions
    }

    /// The latest time of the next call of ``pass(to:)``; nil if none is needed.
    package var deadline: Duration? { devices.values.lazy.compactMap(\.deadline).min() }

    /// The connection to the broker has ended. The presence of all machines is unknown until their next messages.
    package mutating func brokerWasLost() -> [Decision] {
        devices.keys.sorted().flatMap { place in standing(place) { $0.brokerWasLost() } }
    }

    /// The connection is back. A broker that was killed has lost messages that it had acknowledged and not delivered.
    package mutating func brokerIsBack(at now: Duration) {
        advance(to: now)
        for place in devices.keys { devices[place]?.presence.brokerIsBack(at: latest) }
        allFallBehind()
    }

    /// Removes old ended incidents of a site from memory. They must be saved before.
    package mutating func prune(_ site: String) { book.prune(site) }

    /// Removes a machine. A later message adds it as a new one, whose earlier events are not requested.
    package mutating func forget(_ place: FleetPlace) -> [Decision] {
        if devices.removeValue(forKey: place) != nil {
            forgotten.insert(place)
            count(place, -1)
        }
        return book.forget(place).map(Decision.incident)
    }

    /// Returns the reason of the last absence of a machine; nil if there was none.
    package func verdict(of place: FleetPlace) -> SilenceVerdict? {
        guard let gap = devices[place]?.gap else { return nil }
        return book.verdict(of: place, gap) ?? gap.evidence.verdict
    }

    // MARK: What the parts of it share

    /// The time of the current message.
    var now: Duration { latest }

    /// Times are whole milliseconds, as in the store.
    private mutating func advance(to time: Duration) {
        latest = max(latest, .milliseconds(time.milliseconds))
    }

    /// Adds a machine, or throws if a limit is reached.
    ///
    /// - Parameter told: The last position in its log that the machine has sent.
    mutating func admit(_ place: FleetPlace, told: EventPosition?) throws(PayloadError) {
        if devices[place] != nil { return }
        guard devices.count < Self.deviceLimit else {
            throw PayloadError("\(devices.count) machines are known already")
        }
        guard counts.sites[place.site, default: 0] < Self.siteLimit else {
            throw PayloadError("\(Self.siteLimit) machines are known at this site already")
        }
        guard counts.names[place.device, default: 0] < Self.nameLimit else {
            throw PayloadError("a machine of this name is known at \(Self.nameLimit) sites already")
        }
        devices[place] = HubDevice(place)
        count(place, 1)
        if forgotten.remove(place) != nil, let told { devices[place]?.log.add(told) }
    }

    private mutating func count(_ place: FleetPlace, _ change: Int) {
        let (site, name) = (
            counts.sites[place.site, default: 0] + change, counts.names[place.device, default: 0] + change
        )
        counts.sites[place.site] = site > 0 ? site : nil
        counts.names[place.device] = name > 0 ? name : nil
    }

    private mutating func afford(_ place: FleetPlace) -> Bool { devices[place]?.budget.take(at: latest) ?? true }

    private func refusal(_ message: Message, _ reason: String) -> Decision {
        .refused(topic: String(message.topic.prefix(256)), reason: reason)
    }

    /// Changes a presence, and returns a decision if the standing is different then.
    mutating func standing(_ place: FleetPlace, _ body: (inout DevicePresence) -> Void) -> [Decision] {
        guard let before = devices[place]?.presence.standing else { return [] }
        if var presence = devices[place]?.presence {
            body(&presence)
            devices[place]?.presence = presence
        }
        guard let after = devices[place]?.presence.standing, after != before else { return [] }
        return [.stands(place, after)]
    }

    /// A machine is silent.
    mutating func fell(_ place: FleetPlace, since: Duration) -> [Decision] {
        var gap = DeviceGap(since: since, noticed: latest)
        gap.evidence.before = devices[place]?.presence.report
        devices[place]?.gap = gap
        return [.stands(place, .silent), .gap(place)] + note(gap, place)
    }

    /// Changes the facts about the last absence of a machine.
    mutating func changeGap(_ place: FleetPlace, _ body: (inout DeviceGap) -> Void) -> [Decision] {
        guard var gap = devices[place]?.gap else { return [] }
        body(&gap)
        guard gap != devices[place]?.gap else { return [] }
        devices[place]?.gap = gap
        return [.gap(place)] + note(gap, place)
    }

    private mutating func note(_ gap: DeviceGap, _ place: FleetPlace) -> [Decision] {
        book.note(gap, of: place).map(Decision.incident)
    }
}

/// Replays of lost messages.
extension Hub {
    /// A message of a machine was dropped.
    package mutating func fallBehind(_ place: FleetPlace) -> [Decision] {
        guard run != nil, devices[place] != nil else { return [] }
        fallBehind(alone: place)
        return [.behind(place)]
    }

    /// Returns the replay request for a machine that is behind; nil for others.
    package func replay(for place: FleetPlace) -> DeviceReplay? {
        guard let device = devices[place], device.mark != nil || device.presence.standing == .unknown else {
            return nil
        }
        let position = device.log.newest.last
        return DeviceReplay(after: position, since: device.toldUntil ?? position.map { _ in .zero }, mark: device.mark)
    }

    /// Whether a machine has sent an event that the hub does not have.
    func misses(_ position: EventPosition?, of place: FleetPlace) -> Bool {
        guard run != nil, let position, let device = devices[place], device.mark == nil else { return false }
        return !device.log.has(position)
    }

    mutating func fallBehind(alone place: FleetPlace) {
        let mark = nextMark()
        devices[place]?.mark = mark
    }

    mutating func allFallBehind() {
        guard let mark = nextMark() else { return }
        for place in devices.keys { devices[place]?.mark = mark }
    }

    /// Each loss has a new mark, because a broker that was killed may repeat a replay of the last mark.
    private mutating func nextMark() -> String? {
        guard let run else { return nil }
        marks += 1
        return "\(run)-\(marks)"
    }
}
