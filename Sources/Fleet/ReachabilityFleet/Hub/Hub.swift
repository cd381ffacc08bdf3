import LinuxSupport

/// What the hub of a fleet knows and decides. A value: it knows no broker, no store and no clock. Messages and the time are given to it,
/// and it says what changed; who owns it writes that down, acknowledges, and tells.
///
/// Its clock is the hub's own, since 1970; machines' clocks only count for how far apart their times are.
package struct Hub: Sendable {
    /// One message, as the broker hands it over.
    package struct Message: Hashable, Sendable {
        package let topic: String
        package let payload: [UInt8]
        /// Whether the broker had kept it from before the hub asked.
        package let isRetained: Bool
        /// When it came, by the hub's clock.
        package let time: Duration

        package init(topic: String, payload: [UInt8], isRetained: Bool = false, time: Duration) {
            (self.topic, self.payload, self.isRetained, self.time) = (topic, payload, isRetained, time)
        }
    }

    /// What follows of a message or of time going by.
    package enum Decision: Hashable, Sendable {
        /// Something is known of a machine that was not known before: it is to be written down.
        case noted(FleetPlace)
        /// A machine is in another way there, or not.
        case stands(FleetPlace, DevicePresence.Standing)
        /// What is known of the last absence of a machine is something else.
        case gap(FleetPlace)
        case incident(FleetIncidentBook.Change)
        /// Two machines use one name.
        case disputed(FleetPlace)
        /// A machine that may be there is to tell again: ``replay(for:)``.
        case behind(FleetPlace)
        /// A message is not taken, and why. It is acknowledged all the same, or it would come again for ever.
        case refused(topic: String, reason: String)
    }

    /// The maximum number of machines. The messages of further ones are refused.
    package static let deviceLimit = 100_000
    /// The maximum number of machines of one site.
    package static let siteLimit = 25_000
    /// The maximum number of sites at which a machine of one name is known: a broker may let a machine name any site.
    package static let nameLimit = 256
    /// Who is back has so much time to tell what was.
    package static let patience: Duration = .seconds(15 * 60)

    /// What replays are marked with; nil where nothing is lost that was acknowledged, so that nobody has to tell again.
    let run: String?
    /// How many marks there were.
    var marks = 0
    /// Machines that were forgotten and not heard since.
    private var forgotten: Set<FleetPlace> = []
    package internal(set) var devices: [FleetPlace: HubDevice] = [:]
    /// The number of machines of each site, and of each name.
    private var counts = (sites: [String: Int](), names: [String: Int]())
    package internal(set) var book = FleetIncidentBook()
    private var latest: Duration = .zero

    package init() { run = nil }

    /// Goes on where a hub had ended. Whoever was online is unknown until heard.
    ///
    /// - Parameters:
    ///   - incidents: All that are open, and the latest of those that are over.
    ///   - run: Another for each process of a hub whose broker is told that it has a message before that is written down: then what came
    ///     last before the process ended may be missing, and every machine that was known is to tell again.
    package init(devices: [HubDevice], incidents: [FleetIncident], run: String? = nil) {
        self.run = run
        for device in devices {
            if self.devices.updateValue(device, forKey: device.place) == nil { count(device.place, 1) }
        }
        allFallBehind()
        book = FleetIncidentBook(incidents)
        _ = brokerWasLost()
    }

    /// Takes a message.
    ///
    /// - Parameter isKept: Whether an outage of a machine was written down already, in an incident that is not in memory any more.
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
                // Who is known to the broker and not here has told before.
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

    /// Time goes by.
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

    /// When ``pass(to:)`` is called next, at the latest; nil while nothing can happen by itself.
    package var deadline: Duration? { devices.values.lazy.compactMap(\.deadline).min() }

    /// The connection to the broker has ended. Nobody is known to be there until heard.
    package mutating func brokerWasLost() -> [Decision] {
        devices.keys.sorted().flatMap { place in standing(place) { $0.brokerWasLost() } }
    }

    /// It is there again. Everybody gets the time to be heard; a broker that was killed has lost what it had acknowledged and not passed on.
    package mutating func brokerIsBack(at now: Duration) {
        advance(to: now)
        for place in devices.keys { devices[place]?.presence.brokerIsBack(at: latest) }
        allFallBehind()
    }

    /// Lets go of incidents of a site that are over for long. What became of them must be written down before.
    package mutating func prune(_ site: String) { book.prune(site) }

    /// Lets go of a machine. If it is heard again, it is a new one, and what it told before is not asked for.
    package mutating func forget(_ place: FleetPlace) -> [Decision] {
        if devices.removeValue(forKey: place) != nil {
            forgotten.insert(place)
            count(place, -1)
        }
        return book.forget(place).map(Decision.incident)
    }

    /// Why a machine was away the last time; nil where it never was.
    package func verdict(of place: FleetPlace) -> SilenceVerdict? {
        guard let gap = devices[place]?.gap else { return nil }
        return book.verdict(of: place, gap) ?? gap.evidence.verdict
    }

    // MARK: What the parts of it share

    /// The time of what is being taken.
    var now: Duration { latest }

    /// In whole milliseconds, as times are written down.
    private mutating func advance(to time: Duration) {
        latest = max(latest, .milliseconds(time.milliseconds))
    }

    /// Whether a machine is known, or may be.
    ///
    /// - Parameter told: The last place in its log that it has told.
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

    /// Has a presence changed, and says so where it stands otherwise then.
    mutating func standing(_ place: FleetPlace, _ body: (inout DevicePresence) -> Void) -> [Decision] {
        guard let before = devices[place]?.presence.standing else { return [] }
        if var presence = devices[place]?.presence {
            body(&presence)
            devices[place]?.presence = presence
        }
        guard let after = devices[place]?.presence.standing, after != before else { return [] }
        return [.stands(place, after)]
    }

    /// A machine went without a word.
    mutating func fell(_ place: FleetPlace, since: Duration) -> [Decision] {
        var gap = DeviceGap(since: since, noticed: latest)
        gap.evidence.before = devices[place]?.presence.report
        devices[place]?.gap = gap
        return [.stands(place, .silent), .gap(place)] + note(gap, place)
    }

    /// Changes what is known of the last absence of a machine, and what follows of it.
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

/// What was lost on the way, and is told again.
extension Hub {
    /// A message of a machine was lost.
    package mutating func fallBehind(_ place: FleetPlace) -> [Decision] {
        guard run != nil, devices[place] != nil else { return [] }
        fallBehind(alone: place)
        return [.behind(place)]
    }

    /// What a machine that is behind is asked for; nil for others.
    package func replay(for place: FleetPlace) -> DeviceReplay? {
        guard let device = devices[place], device.mark != nil || device.presence.standing == .unknown else {
            return nil
        }
        let position = device.log.newest.last
        return DeviceReplay(after: position, since: device.toldUntil ?? position.map { _ in .zero }, mark: device.mark)
    }

    /// Whether a machine has told of an event, and of that, nothing is known.
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

    /// Another each time something is lost: a broker that was killed may repeat what a machine told at the last mark.
    private mutating func nextMark() -> String? {
        guard let run else { return nil }
        marks += 1
        return "\(run)-\(marks)"
    }
}
