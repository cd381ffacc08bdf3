import ReachabilityFleet
import ReachabilityLedger
import Testing

/// One incident for each site at a time, refined, never a second.
@Suite struct IncidentTests {
    private var book = FleetIncidentTracker()

    /// It went between the two times.
    private mutating func fell(_ place: FleetPlace, since: Int, noticed: Int) -> [FleetIncidentTracker.Change] {
        var gap = DeviceGap(since: at(since), noticed: at(noticed))
        gap.evidence.before = report(since)
        return book.note(gap, of: place)
    }

    /// It came back, and has told all it knows.
    private mutating func returned(
        _ place: FleetPlace,
        since: Int,
        noticed: Int,
        _ seconds: Int,
        slept: Int = 0
    ) -> [FleetIncidentTracker.Change] {
        var gap = DeviceGap(since: at(since), noticed: at(noticed))
        (gap.evidence.before, gap.evidence.after, gap.until) = (report(since), report(seconds), at(seconds))
        (gap.evidence.isToldWhole, gap.evidence.slept) = (true, .seconds(slept))
        return book.note(gap, of: place)
    }

    /// The same, and an outage of its own explains the silence.
    private mutating func explained(
        _ place: FleetPlace,
        _ own: DeviceOutage,
        since: Int,
        noticed: Int,
        until: Int
    ) -> [FleetIncidentTracker.Change] {
        var gap = DeviceGap(since: at(since), noticed: at(noticed))
        (gap.evidence.before, gap.evidence.after, gap.until) = (report(since), report(until), at(until))
        gap.evidence.isToldWhole = true
        gap.consider(own, end: nil)
        return book.note(gap, of: place)
    }

    @Test mutating func `silence opens it, and the outage of the machine refines it`() throws {
        let pump = try place("pump")
        let opened = try #require(fell(pump, since: 100, noticed: 190).first)
        #expect(opened.kind == .opened)
        #expect(book.open(at: "north")?.isUnexplained == true)
        #expect(book.open(at: "north")?.fault.attribution == .unknown)
        let own = outage(from: 110, to: 480)
        #expect(book.told(pump, own, start: at(110), end: at(480)).map(\.kind) == [.refined])
        var gap = DeviceGap(since: at(100), noticed: at(190))
        (gap.evidence.before, gap.evidence.after, gap.until) = (report(100), report(500), at(500))
        gap.consider(own, end: at(480))
        #expect(book.note(gap, of: pump).map(\.kind) == [.refined])
        gap.evidence.isToldWhole = true
        #expect(book.note(gap, of: pump).map(\.kind) == [.closed])
        let incident = try #require(book.incident(opened.incident, at: "north"))
        #expect(incident.verdict(of: "pump") == .outage(own))
        #expect(incident.fault == (.us, .link))
        // When the machine was last heard, and heard again, says less than the machine itself.
        #expect(incident.start == at(110))
        #expect(incident.end == at(480))
        #expect(!incident.isUnexplained)
        #expect(book.incidents.count == 1)
    }

    @Test mutating func `an outage makes one without any silence`() throws {
        let pump = try place("pump")
        let changes = book.told(pump, outage(from: 1, to: nil), start: at(1), end: nil)
        #expect(changes.map(\.kind) == [.opened])
        #expect(try #require(book.open(at: "north")).fault == (.us, .link))
        #expect(book.told(pump, outage(from: 1, to: 9), start: at(1), end: at(9)).map(\.kind) == [.closed])
        #expect(book.incidents.map(\.id) == changes.map(\.incident))
    }

    @Test mutating func `what is told again changes nothing`() throws {
        let pump = try place("pump")
        let changes = book.told(pump, outage(from: 1, to: 9), start: at(1), end: at(9))
        #expect(changes.count == 2)
        for _ in 0..<3 {
            #expect(book.told(pump, outage(from: 1, to: 9), start: at(1), end: at(9)).isEmpty)
            // A clock that was set in between does not make another of it.
            #expect(book.told(pump, outage(from: 1, to: 9), start: at(5000), end: at(5009)).isEmpty)
        }
        #expect(book.told(pump, outage(from: 1, to: nil), start: at(1), end: nil).isEmpty)
        #expect(book.incidents.count == 1)
    }

    @Test mutating func `all machines of a site are one, those of another site another`() throws {
        for number in 0..<50 { _ = fell(try place("d\(number)"), since: number, noticed: 100 + number / 2) }
        _ = fell(try place("far", site: "south"), since: 3, noticed: 103)
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

    @Test mutating func `who fell long before is another`() throws {
        let (dead, other) = (try place("dead"), try place("other"))
        _ = fell(dead, since: 0, noticed: 90)
        _ = fell(other, since: 100_000, noticed: 100_090)
        #expect(book.incidents.count == 2)
        _ = returned(other, since: 100_000, noticed: 100_090, 100_500)
        #expect(book.incidents[0].verdict(of: "other") == .beyond)
        #expect(!book.incidents[0].isOpen)
        #expect(book.incidents[1].isOpen)
    }

    @Test mutating func `who comes late to one that is over opens it again`() throws {
        let (one, two) = (try place("one"), try place("two"))
        _ = fell(one, since: 100, noticed: 110)
        _ = returned(one, since: 100, noticed: 110, 115)
        #expect(fell(two, since: 105, noticed: 130).map(\.kind) == [.reopened])
        #expect(book.incidents.count == 1)
    }

    @Test mutating func `what is told late refines the one that is over`() throws {
        let (one, two) = (try place("one"), try place("two"))
        _ = fell(one, since: 100, noticed: 190)
        _ = returned(one, since: 100, noticed: 190, 500)
        let changes = book.told(two, outage("o2", from: 120, to: 400), start: at(120), end: at(400))
        #expect(changes.map(\.kind) == [.refined])
        #expect(book.incidents.count == 1)
        #expect(book.incidents[0].devices == ["one", "two"])
        #expect(book.incidents[0].fault == (.us, .link))
    }

    @Test mutating func `an outage in the midst of the silence of its machine belongs to that`() throws {
        let pump = try place("pump")
        _ = fell(pump, since: 100, noticed: 190)
        _ = book.told(pump, outage(from: 2000, to: 3000), start: at(2000), end: at(3000))
        _ = returned(pump, since: 100, noticed: 190, 5000)
        #expect(book.incidents.count == 1)
    }

    @Test mutating func `what is far away in time is another`() throws {
        let pump = try place("pump")
        _ = book.told(pump, outage("o1", from: 1, to: 9), start: at(1), end: at(9))
        _ = book.told(pump, outage("o2", from: 100, to: 109), start: at(100), end: at(109))
        #expect(book.incidents.count == 2)
    }

    @Test(arguments: [3, 8, 15, 22, 29])
    mutating func `a line that flaps makes an incident each time, of all machines that it concerns`(pause: Int) throws {
        let machines = try ["pump", "valve", "door"].map { try place($0) }
        for turn in 0..<20 {
            let start = 100 + turn * (pause + 4)
            for machine in machines {
                let own = outage("\(machine.device)-\(turn)", from: start, to: start + 4)
                _ = book.told(machine, own, start: at(start), end: at(start + 4))
            }
        }
        let incidents = book.incidents.reversed()
        #expect(incidents.map(\.start) == (0..<20).map { at(100 + $0 * (pause + 4)) })
        #expect(incidents.allSatisfy { $0.devices.count == 3 && $0.end == $0.start + .seconds(4) })
    }

    @Test mutating func `an outage that lasts for long does not hold those that follow`() throws {
        let pump = try place("pump")
        _ = book.told(pump, outage("o1", .them, .host, from: 1, to: nil), start: at(1), end: nil)
        for number in 1...5 {
            let own = outage("n\(number)", from: number * 20, to: number * 20 + 4)
            _ = book.told(pump, own, start: at(number * 20), end: at(number * 20 + 4))
        }
        #expect(book.incidents.map(\.start) == [100, 80, 60, 40, 1].map { at($0) })
    }

    @Test mutating func `outages of a machine that follow one another at once are one incident`() throws {
        let pump = try place("pump")
        _ = book.told(pump, outage("o1", from: 1, to: 9), start: at(1), end: at(9))
        _ = book.told(pump, outage("o2", .upstream, .dns, from: 10, to: 14), start: at(10), end: at(14))
        _ = book.told(pump, outage("o3", from: 5, to: 30), start: at(5), end: at(30))
        #expect(book.incidents.count == 1 && book.incidents[0].end == at(30))
    }

    @Test mutating func `an outage after the machine was heard again is not part of its silence`() throws {
        let pump = try place("pump")
        _ = fell(pump, since: 100, noticed: 190)
        _ = book.told(pump, outage("o1", from: 120, to: 195), start: at(120), end: at(195))
        _ = explained(pump, outage("o1", from: 120, to: 195), since: 100, noticed: 190, until: 200)
        _ = book.told(pump, outage("o2", from: 215, to: 219), start: at(215), end: at(219))
        #expect(book.incidents.map(\.start) == [at(215), at(120)])
    }

    @Test
    mutating func
        `a silence longer than the outage that began it keeps its end, and one that others share its first beginning`()
        throws
    {
        let (one, two) = (try place("one"), try place("two"))
        _ = fell(one, since: 100, noticed: 190)
        _ = fell(two, since: 130, noticed: 195)
        for (machine, since, noticed, start) in [(one, 100, 190, 150), (two, 130, 195, 151)] {
            let own = outage(machine.device, from: start, to: 300)
            _ = book.told(machine, own, start: at(start), end: at(300))
            _ = explained(machine, own, since: since, noticed: noticed, until: 900)
        }
        let incident = try #require(book.incidents.first)
        #expect(book.incidents.count == 1 && incident.start == at(150) && incident.end == at(900))
        // What is written down has the same times.
        let again = FleetIncident(id: incident.id, site: "north", start: incident.start, parts: incident.parts)
        #expect((again.start, again.end) == (incident.start, incident.end))
    }

    @Test mutating func `sleep is harmless`() throws {
        let laptop = try place("laptop")
        _ = fell(laptop, since: 1, noticed: 91)
        _ = returned(laptop, since: 1, noticed: 91, 900, slept: 800)
        let incident = try #require(book.incidents.first)
        #expect(incident.isHarmless)
        #expect(!incident.isOpen)
    }

    @Test mutating func `a flood of outages is bounded`() throws {
        let pump = try place("pump")
        _ = fell(pump, since: 0, noticed: 90)
        for number in 0..<2000 {
            _ = book.told(pump, outage("o\(number)", from: number, to: number), start: at(number), end: at(number))
        }
        #expect(book.incidents.count == 1)
        #expect(book.incidents[0].parts["pump"]?.outages.count == 256)
    }

    @Test mutating func `a flood of incidents is bounded`() throws {
        let pump = try place("pump")
        for number in 0..<1100 {
            let begin = number * 1000
            _ = book.told(pump, outage("o\(number)", from: begin, to: nil), start: at(begin), end: nil)
        }
        #expect(book.incidents.count == 1024)
    }

    @Test mutating func `ten thousand machines of one site are one incident`() throws {
        for number in 0..<10_000 { _ = fell(try place("d\(number)"), since: 0, noticed: 100 + number % 20) }
        for number in 0..<10_000 { _ = returned(try place("d\(number)"), since: 0, noticed: 100 + number % 20, 500) }
        #expect(book.incidents.count == 1)
        #expect(book.incidents[0].verdict(of: "d77") == .site)
        #expect(!book.incidents[0].isOpen)
    }

    @Test mutating func `only so many that are over are kept, once they are written down`() throws {
        let pump = try place("pump")
        for number in 0..<200 {
            let begin = number * 1000
            _ = book.told(pump, outage("o\(number)", from: begin, to: begin), start: at(begin), end: at(begin))
        }
        #expect(book.incidents.count == 200)
        book.prune("north")
        #expect(book.incidents.map(\.start) == (184..<200).reversed().map { at($0 * 1000) })
    }
}
