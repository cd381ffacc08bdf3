import Foundation
import GRDB
import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import TestSupport
import Testing

@testable import ReachabilityFleetHub
@testable import ReachabilityService

/// Extreme numbers and times, in every message of a machine and in every row of a hub's history.
@Suite struct ExtremeMessageTests {
    private static let numbers =
        ExtremeValues.integers.map(String.init) + ["253402300800000", "18446744073709551615", "1e9"]

    /// Returns texts in which one value at a time is replaced.
    private static func variants(_ template: String, _ values: [String: String], _ extremes: [String]) -> [String] {
        values.keys.sorted().flatMap { key in
            extremes.map { extreme in
                values.reduce(template) { text, value in
                    text.replacing("<\(value.key)>", with: value.key == key ? extreme : value.value)
                }
            }
        }
    }

    private static var states: [String] {
        let template = """
            {"schema":1,"session":"a","state":"online","boot":"one","wall":<wall>,"boottimeNs":<boot>,"refresh":<refresh>}
            """
        return variants(template, ["wall": "1700000000000", "boot": "5", "refresh": "60"], numbers)
    }

    private static var events: [String] {
        let outage = """
            {"schema":1,"session":"a","id":"e.<number>","wall":<wall>,"event":"outage","outage":{"id":"o",\
            "target":"internet","attribution":"us","cause":"link","start":"2023-11-14T22:13:20Z","end":null}}
            """
        let resumed = """
            {"schema":1,"session":"a","id":"e.2","wall":1700000000000,"event":"resumed","sleepMilliseconds":<sleep>}
            """
        return variants(outage, ["wall": "1700000000000", "number": "1"], numbers)
            + variants(resumed, ["sleep": "5"], numbers)
    }

    /// Outages with extreme start and end times.
    private static var outages: [String] {
        (ExtremeValues.times + ["1970-01-01T00:00:00Z"]).flatMap { start in
            ["null", "\"1970-01-01T00:00:01Z\"", "\"9999-12-31T23:59:59.999Z\""].map { end in
                """
                {"schema":1,"session":"a","id":"e.3","wall":1700000000000,"event":"outage","outage":{"id":"o",\
                "target":"internet","attribution":"us","cause":"link","start":"\(start)","end":\(end)}}
                """
            }
        }
    }

    private static let paths = [
        "/v1/status", "/v1/sites", "/v1/devices", "/v1/devices/north/d", "/v1/incidents", "/v1/events", "/metrics", "/",
        "/incidents", "/sites/north", "/devices/north/d",
    ]

    private static func visit(_ world: HubWorld, _ what: String) throws {
        var paths = paths
        for item in try world.items("/v1/incidents") {
            guard let id = item["id"] as? String else { continue }
            paths += ["/v1/incidents/\(id.percentEncoded)", "/incidents/\(id.percentEncoded)"]
        }
        for path in paths {
            #expect(try world.answer(path).status.code < 500, "\(path) after \(what)")
            _ = try world.text(path)
        }
        for incident in try world.store.notified() { _ = (incident.start.wall, incident.since.wall) }
    }

    private static func message(_ topic: String, _ payload: String, _ seconds: Int) -> Hub.Message {
        Hub.Message(topic: "reach/v1/north/d/\(topic)", payload: Array(payload.utf8), time: at(seconds))
    }

    @Test func `all pages and the store work after any report of a machine`() throws {
        for state in Self.states {
            for event in [nil] + Self.outages.map(Optional.some) {
                let world = try HubWorld()
                world.writer.brokerConnected()
                world.receive([Self.message("state", state, 0)])
                if let event { world.receive([Self.message("event", event, 1)]) }
                world.receive([.will("d", "a", 100)])
                if event == nil || event == Self.outages.first { try Self.visit(world, state) }
                let again = try HubWorld(store: world.store)
                if event == Self.outages.last { try Self.visit(again, state) }
            }
        }
        for event in Self.events + Self.outages {
            let world = try HubWorld()
            world.writer.brokerConnected()
            world.receive([.online("d", "a", 0), Self.message("event", event, 1), .will("d", "a", 100)])
            try Self.visit(world, event)
        }
    }

    @Test func `a converted time is never before 1970 or in the future`() {
        for wall in ExtremeValues.integers {
            for time in ExtremeValues.integers {
                var clock = DeviceClock()
                clock.record(.milliseconds(wall), at: at(0))
                let moment = clock.time(.milliseconds(time), at: at(0))
                #expect(moment >= .zero && moment <= at(0))
            }
        }
    }

    @Test func `any number in any row of the history can be shown`() throws {
        let directory = try ScratchDirectory()
        let whole = directory.file("whole")
        do {
            let store = try HubStore(whole)
            var hub = Hub()
            hub.brokerConnected(at: at(0))
            for message in [
                Hub.Message.online("d", "a", 0), .event("d", "a", 5, .outage(outage("o", 1, 4)), number: 1),
                .will("d", "a", 190),
            ] { _ = hub.take(message) }
            var changes = HubChanges()
            changes.devices = Array(hub.devices.values)
            for incident in hub.book.incidents { changes.add(incident, incident.devices) }
            try store.save(changes)
            let told = Incident(
                id: "i",
                site: "north",
                start: LedgerInstant(wall: at(0)),
                noticed: LedgerInstant(wall: at(0)),
                since: LedgerInstant(wall: at(0)),
                state: TargetState(.us, .link),
                deliveries: ["c": .init(labels: .init(attribution: .us, cause: .link), refinements: 1, endings: 1)],
                finished: []
            )
            try store.save(notified: [told], forgetting: [])
            try store.save(HubAge(reading: .system, time: at(0)))
            store.close()
        }
        var columns: [(table: String, name: String)] = []
        do {
            let queue = try DatabaseQueue(path: whole)
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            columns = try queue.read { db in
                try ["incident", "told", "delivery", "age"].flatMap { table in
                    try db.columns(in: table).filter { $0.type == "INTEGER" }.map { (table, $0.name) }
                }
            }
            try queue.close()
        }
        #expect(columns.count > 10)
        for (table, name) in columns {
            for number in ExtremeValues.integers {
                let file = directory.file("\(table)-\(name)-\(number)")
                try FileManager.default.copyItem(atPath: whole, toPath: file)
                let queue = try DatabaseQueue(path: file)
                try? queue.write { try $0.execute(sql: "UPDATE \(table) SET \"\(name)\" = \(number)") }
                try queue.close()
                let store = try HubStore(file)
                defer { store.close() }
                for incident in try store.contents().incidents { _ = IncidentSummary(incident).start }
                let summaries = try store.incidents(IncidentQuery(limit: 10))
                for summary in summaries { _ = summary.item(at: at(0), of: 1) }
                for incident in try store.notified() { #expect(incident.start.wall <= .nanoseconds(Int64.max)) }
                let retention = HubRetention(store, keep: nil) { at(200) }
                retention.begin()
                retention.stop()
            }
        }
    }

    @Test func `no text in any parameter of a request causes an internal error`() throws {
        let world = try HubWorld.twoSites()
        for path in Self.paths {
            for name in ["after", "limit", "wait", "window", "site", "standing", "from", "to"] {
                for text in ExtremeValues.texts {
                    let status = try world.answer("\(path)?\(name)=\(text.percentEncoded)").status.code
                    #expect(200..<500 ~= status, "\(path)?\(name)=\(text)")
                }
            }
        }
    }

    /// The years 0, 1916, 2263 and 9999.
    @Test(arguments: [-63_860_000_000, -3_400_000_000, 7_550_000_000, 251_700_000_000])
    func `a hub runs with any clock`(seconds: Int) throws {
        let world = try HubWorld()
        world.setClock(at(seconds))
        world.writer.brokerConnected()
        world.receive([.online("d0", "a", seconds), .will("d0", "a", seconds + 10), .online("d0", "b", seconds + 100)])
        world.receive([.event("d0", "b", seconds + 101, .outage(outage("o", seconds + 9, seconds + 90)), number: 1)])
        try Self.visit(world, "the clock \(seconds)")
    }

    @Test func `a clock that is years ahead deletes no incident, even after restarts`() throws {
        let directory = try ScratchDirectory()
        let years = 10 * 365 * 86_400
        func incidents(_ clock: Duration, known: Bool) throws -> Int {
            let store = try HubStore(directory.file("hub"))
            defer { store.close() }
            if !known {
                var hub = Hub()
                for message in [
                    Hub.Message.online("d", "a", 0), .event("d", "a", 5, .outage(outage("o", 1, 4)), number: 1),
                ] { _ = hub.take(message) }
                var changes = HubChanges()
                changes.devices = Array(hub.devices.values)
                for incident in hub.book.incidents { changes.add(incident, incident.devices) }
                try store.save(changes)
            }
            let retention = HubRetention(store, keep: nil) { clock }
            retention.begin()
            retention.stop()
            return try store.incidents(IncidentQuery(limit: 10)).count
        }
        // The first reading of a new file may already be wrong.
        #expect(try incidents(at(years), known: false) == 1)
        #expect(try incidents(at(100), known: true) == 1)
        #expect(try incidents(at(years), known: true) == 1)
        #expect(try incidents(at(-years), known: true) == 1)
        #expect(try incidents(at(86_400), known: true) == 1)
    }
}
