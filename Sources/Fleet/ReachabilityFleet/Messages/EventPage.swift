import ReachabilityLedger

/// A page of the service's own log, `/v1/events`, as far as others are told of it.
package struct EventPage: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let position: EventPosition
        /// By the machine's wall clock, since 1970.
        package let time: Duration
        /// Nil for what nobody is told.
        package let kind: DeviceEvent.Kind?

        package init(position: EventPosition, time: Duration, kind: DeviceEvent.Kind?) {
            (self.position, self.time, self.kind) = (position, time, kind)
        }
    }

    /// The oldest first.
    package let entries: [Entry]
    /// Whether there is more already.
    package let hasMore: Bool

    package init(entries: [Entry], hasMore: Bool) {
        (self.entries, self.hasMore) = (entries, hasMore)
    }
}

/// A page of the service's outages, `/v1/outages`, the latest first.
package struct OutagePage: Hashable, Sendable {
    package let outages: [DeviceOutage]
    /// What to ask for the next page with (`after`); nil at the end.
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
                throw PayloadError("an event has no place in the log, or no time")
            }
            // One that cannot be told does not keep the others.
            entries.append(Entry(position: position, time: time, kind: try? Self.kind(item)))
        }
        self.init(entries: entries, hasMore: next != nil)
    }

    private static func kind(_ item: Payload) throws(PayloadError) -> DeviceEvent.Kind? {
        switch Name(rawValue: try item.text("event")) {
        case .outageBegan, .outageRefined, .outageEnded:
            guard let outage = try item.optionalObject("outage") else { throw PayloadError("\"outage\" is missing") }
            return .outage(try DeviceOutage(outage))
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
    /// A page as the service makes it, of at most 16 MB.
    fileprivate static func list(_ bytes: [UInt8]) throws(PayloadError) -> (items: [Payload], next: String?) {
        guard bytes.count <= 16 << 20, case .object(let members)? = JSONValue(bytes),
            case .array(let values)? = members["items"]
        else { throw PayloadError("no page of a list") }
        var items: [Payload] = []
        for value in values {
            guard case .object(let members) = value else { throw PayloadError("an item is no object") }
            items.append(Payload(members: members))
        }
        return (items, members["next"]?.text)
    }
}
