import ReachabilityFleet
import ReachabilityLedger
import Testing

/// The incidents of a site. Silences and outages with one cause belong to one incident.
@Suite struct IncidentTests {
    private var book = FleetIncidentTracker()

    /// A machine became silent between the two times.
    private mutating func becameSilent(_ place: DeviceID, since: Int, noticed: Int) -> [FleetIncidentTracker.Change] {
        var gap = DeviceAbsence(since: at(since), noticed: at(noticed))
        gap.evidence.before = report(since)
        return book.note(gap, of: place)
    }

    /// A machine is back and has sent all events.
    private mutating func returned(
        _ place: DeviceID,
        since: Int,
        noticed: Int,
        _ seconds: Int,
        slept: Int = 0
    ) -> [FleetIncidentTracker.Change] {
        var gap = DeviceAbsence(since: at(since), noticed: at(noticed))
        (gap.evidence.before, gap.evidence.after, gap.until) = (report(since), report(seconds), at(seconds))
        (gap.evidence.hasAllEvents, gap.evidence.slept) = (true, .seconds(slept))
        return book.note(gap, of: place)
    }

    /// A machine is back, and its own outage explains the silence.
    private mutating func explained(
        _ place: DeviceID,
        _ own: DeviceOutage,
        since: Int,
        noticed: Int,
        until: Int
    ) -> [FleetIncidentTracker.Change] {
        var gap = DeviceAbsence(since: at(since), noticed: at(noticed))
        (gap.evidence.before, gap.evidence.after, gap.until) = (report(since), report(until), at(until))
        gap.evidence.hasAllEvents = true
        gap.consider(own, end: nil)
        return book.note(gap, of: place)
    }

    @Test mutating func `a silence opens an incident and the outage of the machine refines it`() throws {
        let pump = try place("pump")
        let opened = try #require(becameSilent(pump, since: 100, noticed: 190).first)
        #expect(opened.kind == .opened)
        #expect(book.open(at: "north")?.isUnexplained == true)
        #expect(book.open(at: "north")?.fault.attribution == .unknown)
        let own = outage(from: 110, to: 480)
        #expect(book.record(pump, own, start: at(110), end: at(480)).map(\.kind) == [.refined])
        var gap = DeviceAbsence(since: at(100), noticed: at(190))
        (gap.evidence.before, gap.evidence.after, gap.until) = (report(100), report(500), at(500))
        gap.consider(own, end: at(480))
        #expect(book.note(gap, of: pump).map(\.kind) == [.refined])
        gap.evidence.hasAllEvents = true
        #expect(book.note(gap, of: pump).map(\.kind) == [.closed])
        let incident = try #require(book.incident(opened.incident, at: "north"))
        #expect(incident.verdict(of: "pump") == .outage(own))
        #expect(incident.fault == (.us, .link))
        // The times of the outage are more exact than the times of the last and the next message.
        #expect(incident.start == at(110))
        #expect(incident.end == at(480))
        #expect(!incident.isUnexplained)
        #expect(book.incidents.count == 1)
    }

    @Test mutating func `an outage opens an incident without a silence`() throws {
        let pump = try place("pump")
        let changes = book.record(pump, outage(from: 1, to: nil), start: at(1), end: nil)
        #expect(changes.map(\.kind) == [.opened])
        #expect(try #require(book.open(at: "north")).fault == (.us, .link))
        #expect(book.record(pump, outage(from: 1, to: 9), start: at(1), end: at(9)).map(\.kind) == [.closed])
        #expect(book.incidents.map(\.id) == changes.map(\.incident))
    }

    @Test mutating func `a repeated report changes nothing`() throws {
        let pump = try place("pump")
        #expect(book.record(pump, outage(from: 1, to: 9), start: at(1), end: at(9)).count == 2)
        for _ in 0..<3 {
            #expect(book.record(pump, outage(from: 1, to: 9), start: at(1), end: at(9)).isEmpty)
            // Setting the clock in between does not create another outage.
            #expect(book.record(pump, outage(from: 1, to: 9), start: at(5000), end: at(5009)).isEmpty)
        }
        #expect(book.record(pump, outage(from: 1, to: nil), start: at(1), end: nil).isEmpty)
        #expect(book.incidents.count == 1)
    }

    @Test mutating func `machines of one site share an incident and other sites have their own`() throws {
        for number in 0..<50 { _ = becameSilent(try place("d\(number)"), since: number, noticed: 100 + number / 2) }
        _ = becameSilent(try place("far", site: "south"), since: 3, noticed: 103)
        #expect(book.incidents.count == 2)
        for number in 0..<50 {
            _ = returned(try place("d\(number)"), since: number, noticed: 100 + number / 2, 500)
        }
        let north = try #require(book.incidents.first { $0.site == "north" })
        #expect(north.devices.count == 50)
        #expect(!north.isOpen)
        #expect(north.devices.allSatisfy { north.verdict(of: $0) == .site })
        #expect(north.fault.attribution == .upstream)
        #expect(book.open(at: "south") != nil)
    }

    @Test mutating func `a machine that became silent long before belongs to another incident`() throws {
        let (dead, other) = (try place("dead"), try place("other"))
        _ = becameSilent(dead, since: 0, noticed: 90)
        _ = becameSilent(other, since: 100_000, noticed: 100_090)
        #expect(book.incidents.count == 2)
        _ = returned(other, since: 100_000, noticed: 100_090, 100_500)
        #expect(book.incidents[0].verdict(of: "other") == .beyond)
        #expect(!book.incidents[0].isOpen)
        #expect(book.incidents[1].isOpen)
    }

    @Test mutating func `a late silence reopens an ended incident`() throws {
        let (one, two) = (try place("one"), try place("two"))
        _ = becameSilent(one, since: 100, noticed: 110)
        _ = returned(one, since: 100, noticed: 110, 115)
        #expect(becameSilent(two, since: 105, noticed: 130).map(\.kind) == [.reopened])
        #expect(book.incidents.count == 1)
    }

    @Test mutating func `a late report refines an ended incident`() throws {
        let (one, two) = (try place("one"), try place("two"))
        _ = becameSilent(one, since: 100, noticed: 190)
        _ = returned(one, since: 100, noticed: 190, 500)
        let changes = book.record(two, outage("o2", from: 120, to: 400), start: at(120), end: at(400))
        #expect(changes.map(\.kind) == [.refined])
        #expect(book.incidents.count == 1)
        #expect(book.incidents[0].devices == ["one", "two"])
        #expect(book.incidents[0].fault == (.us, .link))
    }

    @Test mutating func `an outage within the silence of its machine belongs to the same incident`() throws {
        let pump = try place("pump")
        _ = becameSilent(pump, since: 100, noticed: 190)
        _ = book.record(pump, outage(from: 2000, to: 3000), start: at(2000), end: at(3000))
        _ = returned(pump, since: 100, noticed: 190, 5000)
        #expect(book.incidents.count == 1)
    }

    @Test mutating func `an outage at another time opens another incident`() throws {
        let pump = try place("pump")
        _ = book.record(pump, outage("o1", from: 1, to: 9), start: at(1), end: at(9))
        _ = book.record(pump, outage("o2", from: 100, to: 109), start: at(100), end: at(109))
        #expect(book.incidents.count == 2)
    }

    @Test(arguments: [3, 8, 15, 22, 29])
    mutating func `each loss of a flapping line is one incident of all its machines`(pause: Int) throws {
        let machines = try ["pump", "valve", "door"].map { try place($0) }
        for turn in 0..<20 {
            let start = 100 + turn * (pause + 4)
            for machine in machines {
                let own = outage("\(machine.device)-\(turn)", from: start, to: start + 4)
                _ = book.record(machine, own, start: at(start), end: at(start + 4))
            }
        }
        let incidents = book.incidents.reversed()
        #expect(incidents.map(\.start) == (0..<20).map { at(100 + $0 * (pause + 4)) })
        #expect(incidents.allSatisfy { $0.devices.count == 3 && $0.end == $0.start + .seconds(4) })
    }

    @Test mutating func `a long outage does not absorb the outages that follow`() throws {
        let pump = try place("pump")
        _ = book.record(pump, outage("o1", .them, .host, from: 1, to: nil), start: at(1), end: nil)
        for number in 1...5 {
            let own = outage("n\(number)", from: number * 20, to: number * 20 + 4)
            _ = book.record(pump, own, start: at(number * 20), end: at(number * 20 + 4))
        }
        #expect(book.incidents.map(\.start) == [100, 80, 60, 40, 1].map { at($0) })
    }

    @Test mutating func `outages of a machine without a pause are one incident`() throws {
        let pump = try place("pump")
        _ = book.record(pump, outage("o1", from: 1, to: 9), start: at(1), end: at(9))
        _ = book.record(pump, outage("o2", .upstream, .dns, from: 10, to: 14), start: at(10), end: at(14))
        _ = book.record(pump, outage("o3", from: 5, to: 30), start: at(5), end: at(30))
        #expect(book.incidents.count == 1 && book.incidents[0].end == at(30))
    }

    @Test mutating func `an outage after the return of a machine is not part of its silence`() throws {
        let pump = try place("pump")
        _ = becameSilent(pump, since: 100, noticed: 190)
        _ = book.record(pump, outage("o1", from: 120, to: 195), start: at(120), end: at(195))
        _ = explained(pump, outage("o1", from: 120, to: 195), since: 100, noticed: 190, until: 200)
        _ = book.record(pump, outage("o2", from: 215, to: 219), start: at(215), end: at(219))
        #expect(book.incidents.map(\.start) == [at(215), at(120)])
    }

    @Test
    mutating func
        `an incident ends with a silence that outlasts its outage and begins with the earliest machine`()
        throws
    {
        let (one, two) = (try place("one"), try place("two"))
        _ = becameSilent(one, since: 100, noticed: 190)
        _ = becameSilent(two, since: 130, noticed: 195)
        for (machine, since, noticed, start) in [(one, 100, 190, 150), (two, 130, 195, 151)] {
            let own = outage(machine.device, from: start, to: 300)
            _ = book.record(machine, own, start: at(start), end: at(300))
            _ = explained(machine, own, since: since, noticed: noticed, until: 900)
        }
        let incident = try #require(book.incidents.first)
        #expect(book.incidents.count == 1 && incident.start == at(150) && incident.end == at(900))
        // A stored incident has the same times.
        let again = FleetIncident(id: incident.id, site: "north", start: incident.start, parts: incident.parts)
        #expect((again.start, again.end) == (incident.start, incident.end))
    }

    @Test mutating func `an absence of a sleeping machine is a harmless incident`() throws {
        let laptop = try place("laptop")
        _ = becameSilent(laptop, since: 1, noticed: 91)
        _ = returned(laptop, since: 1, noticed: 91, 900, slept: 800)
        let incident = try #require(book.incidents.first)
        #expect(incident.isHarmless)
        #expect(!incident.isOpen)
    }

    @Test mutating func `the number of outages of a machine is limited`() throws {
        let pump = try place("pump")
        _ = becameSilent(pump, since: 0, noticed: 90)
        for number in 0..<2000 {
            _ = book.record(pump, outage("o\(number)", from: number, to: number), start: at(number), end: at(number))
        }
        #expect(book.incidents.count == 1)
        #expect(book.incidents[0].parts["pump"]?.outages.count == 256)
    }

    @Test mutating func `the number of open incidents of a site is limited`() throws {
        let pump = try place("pump")
        for number in 0..<1100 {
            let begin = number * 1000
            _ = book.record(pump, outage("o\(number)", from: begin, to: nil), start: at(begin), end: nil)
        }
        #expect(book.incidents.count == 1024)
    }

    @Test mutating func `silences of ten thousand machines of one site are one incident`() throws {
        for number in 0..<10_000 { _ = becameSilent(try place("d\(number)"), since: 0, noticed: 100 + number % 20) }
        for number in 0..<10_000 { _ = returned(try place("d\(number)"), since: 0, noticed: 100 + number % 20, 500) }
        #expect(book.incidents.count == 1)
        #expect(book.incidents[0].verdict(of: "d77") == .site)
        #expect(!book.incidents[0].isOpen)
    }

    @Test mutating func `only the latest ended incidents are kept after they were saved`() throws {
        let pump = try place("pump")
        for number in 0..<200 {
            let begin = number * 1000
            _ = book.record(pump, outage("o\(number)", from: begin, to: begin), start: at(begin), end: at(begin))
        }
        #expect(book.incidents.count == 200)
        book.prune("north")
        #expect(book.incidents.map(\.start) == (184..<200).reversed().map { at($0 * 1000) })
    }
}
