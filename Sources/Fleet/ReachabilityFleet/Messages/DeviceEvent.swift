import LinuxSupport
package import ReachabilityLedger

/// An outage that a machine has reported.
package struct DeviceOutage: Hashable, Sendable {
    /// The identifier of the outage, the same in all reports.
    package let id: String
    package let target: String
    package let attribution: Attribution
    package let cause: OutageCause?
    /// The start, by the machine's wall clock, since 1970.
    package let start: Duration
    /// The end, by the machine's wall clock, since 1970; nil while the outage lasts.
    package let end: Duration?

    package init(
        id: String,
        target: String,
        attribution: Attribution,
        cause: OutageCause?,
        start: Duration,
        end: Duration?
    ) {
        (self.id, self.target, self.attribution, self.cause) = (id, target, attribution, cause)
        (self.start, self.end) = (start, end)
    }
}

/// A message on the topic `event` of a machine.
package struct DeviceEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The current state of an outage.
        case outage(DeviceOutage)
        /// The machine has resumed from a sleep of this duration.
        case resumed(Duration)
        /// All past events have been sent.
        case caughtUp
        /// A replay with this mark begins.
        case replaying(mark: String)
    }

    /// The minimum interval between the events of a machine, after a burst. The hub allows a higher rate, because an
    /// event that it refuses has to be sent again.
    package static let pause = Duration.milliseconds(5)

    package let session: String
    /// The position in the machine's log; nil for an event without one, such as an event from the history.
    package let position: EventPosition?
    /// The log position of the previous event that was sent, by this session or an earlier one. A hub that does not
    /// have this event has missed one. Nil for the first event.
    package let after: EventPosition?
    /// The machine's wall clock at the time of sending, since 1970. It is the reference for all other times in the
    /// message.
    package let wall: Duration
    package let kind: Kind

    package init(
        session: String,
        position: EventPosition?,
        after: EventPosition? = nil,
        wall: Duration,
        kind: Kind
    ) {
        (self.session, self.position, self.after, self.wall, self.kind) = (session, position, after, wall, kind)
    }
}

extension DeviceOutage {
    /// Reads an outage, from `/v1/outages` of the service or from an event of a machine.
    init(_ payload: Payload) throws(PayloadError) {
        let cause = try payload.optionalText("cause", longest: 64)
        guard let start = try payload.optionalTimestamp("start") else { throw PayloadError("\"start\" is missing") }
        self.init(
            id: try payload.text("id", longest: 128),
            target: try payload.text("target", longest: 256),
            attribution: try payload.word("attribution"),
            cause: cause.map { OutageCause(rawValue: $0) },
            start: start,
            end: try payload.optionalTimestamp("end")
        )
        if let end, end < start { throw PayloadError("the outage ends before it begins") }
    }

    /// Reads the outage of an event.
    fileprivate init(required event: Payload) throws(PayloadError) {
        guard let outage = try event.optional("outage", Self.init(_:)) else {
            throw PayloadError("\"outage\" is missing")
        }
        self = outage
    }

    var object: JSONObject {
        var object = JSONObject()
        object.add("id", id)
        object.add("target", target)
        object.add("attribution", attribution.rawValue)
        object.add("cause", cause?.rawValue)
        object.add("start", Timestamp(real: start))
        object.add("end", end.map { Timestamp(real: $0).text })
        return object
    }
}

extension DeviceEvent {
    private enum Word: String { case outage, resumed, caughtUp, replaying }

    package init(_ bytes: [UInt8]) throws(PayloadError) {
        let payload = try Payload(bytes)
        session = try payload.text("session", longest: 64)
        wall = try payload.time("wall")
        position = try payload.optionalPosition("id")
        after = try payload.optionalPosition("after")
        switch try payload.word("event", Word.self) {
        case .outage:
            kind = .outage(try DeviceOutage(required: payload))
        case .resumed:
            kind = .resumed(.milliseconds(Int64(try payload.count("sleepMilliseconds", upTo: Payload.latest))))
        case .caughtUp: kind = .caughtUp
        case .replaying: kind = .replaying(mark: try payload.text("mark", longest: 64))
        }
    }

    package var bytes: [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("session", session)
        object.add("id", position?.description)
        if let after { object.add("after", after.description) }
        object.add("wall", wall.milliseconds)
        switch kind {
        case .outage(let outage):
            object.add("event", Word.outage.rawValue)
            object.add("outage", outage.object)
        case .resumed(let sleep):
            object.add("event", Word.resumed.rawValue)
            object.add("sleepMilliseconds", sleep.milliseconds)
        case .caughtUp: object.add("event", Word.caughtUp.rawValue)
        case .replaying(let mark):
            object.add("event", Word.replaying.rawValue)
            object.add("mark", mark)
        }
        return object.bytes
    }
}

/// The position of an event in a machine's log: the run of the service, and the number of the event in that run.
package struct EventPosition: Hashable, Sendable, CustomStringConvertible {
    /// The identifier of the run of the service. Event numbers begin at 1 in each run.
    package let epoch: String
    package let number: UInt64

    package init(epoch: String, number: UInt64) {
        (self.epoch, self.number) = (epoch, number)
    }

    /// Reads the format `epoch.number`; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(at: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...32).contains(parts[0].utf8.count), let number = UInt64(parts[1]),
            parts[0].utf8.allSatisfy({ Self.digits.contains($0) })
        else { return nil }
        self.init(epoch: String(parts[0]), number: number)
    }

    private static let digits = Set("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    package var description: String { "\(epoch).\(number)" }
}

extension Payload {
    func optionalPosition(_ key: String) throws(PayloadError) -> EventPosition? {
        guard let text = try optionalText(key, longest: 64) else { return nil }
        guard let position = EventPosition(text) else { throw PayloadError("\"\(key)\" is not a log position") }
        return position
    }
}

/// A page of the service's event log, `/v1/events`. It contains only the parts that the agent publishes.
package struct EventPage: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let position: EventPosition
        /// The time of the event, by the machine's wall clock, since 1970.
        package let time: Duration
        /// The event; nil for an event that is not published.
        package let kind: DeviceEvent.Kind?

        package init(position: EventPosition, time: Duration, kind: DeviceEvent.Kind?) {
            (self.position, self.time, self.kind) = (position, time, kind)
        }
    }

    /// The entries, the oldest first.
    package let entries: [Entry]
    /// True if there are further events.
    package let hasMore: Bool

    package init(entries: [Entry], hasMore: Bool) {
        (self.entries, self.hasMore) = (entries, hasMore)
    }
}

/// A page of the service's outages, `/v1/outages`, the latest first.
package struct OutagePage: Hashable, Sendable {
    package let outages: [DeviceOutage]
    /// The value of the parameter `after` that requests the next page; nil for the last page.
    package let next: String?
}

extension EventPage {
    private enum Name: String {
        case outageBegan, outageRefined, outageEnded, resumed
    }

    package init(_ bytes: [UInt8]) throws(PayloadError) {
        let (items, next) = try Payload.list(bytes)
        var entries: [Entry] = []
        for item in items {
            guard let position = EventPosition(try item.text("id")), let time = try item.optionalTimestamp("time")
            else {
                throw PayloadError("an event has no log position or no time")
            }
            // An invalid entry does not affect the others.
            entries.append(Entry(position: position, time: time, kind: try? Self.kind(item)))
        }
        self.init(entries: entries, hasMore: next != nil)
    }

    private static func kind(_ item: Payload) throws(PayloadError) -> DeviceEvent.Kind? {
        switch Name(rawValue: try item.text("event")) {
        case .outageBegan, .outageRefined, .outageEnded:
            return .outage(try DeviceOutage(required: item))
        case .resumed: return .resumed(try item.time("sleepMilliseconds"))
        case nil: return nil
        }
    }
}

extension OutagePage {
    package init(_ bytes: [UInt8]) throws(PayloadError) {
        let (items, next) = try Payload.list(bytes)
        self.next = next
        outages = items.compactMap { try? DeviceOutage($0) }
    }
}

extension Payload {
    /// Reads a list response of the service, of at most 16 MiB.
    static func list(_ bytes: [UInt8]) throws(PayloadError) -> (items: [Payload], next: String?) {
        guard bytes.count <= 16 << 20, case .object(let members)? = JSONValue(bytes),
            case .array(let values)? = members["items"]
        else { throw PayloadError("not a list response") }
        var items: [Payload] = []
        for value in values {
            guard case .object(let members) = value else { throw PayloadError("a list item is not an object") }
            items.append(Payload(members: members))
        }
        return (items, members["next"]?.text)
    }
}
