import ReachabilityFleet
import ReachabilityLedger
import Testing

/// One incident for each site at a time, refined, never a second.
@Suite struct IncidentTests {
    private var book = FleetIncidentBook()

    @Test mutating func `silence opens it, and the outage of the machine refines it`() throws {
        let pump = try place("pump")
        let opened = try #require(book.fell(pump, since: at(100), before: report(100)).first?.incident)
        #expect(opened.isUnexplained)
        #expect(opened.fault.attribution == .unknown)
        _ = book.returned(pump, after: report(500), at: at(500))
        _ = book.told(pump, outage(from: 110, to: 480), start: at(110), end: at(480))
        let changes = book.caughtUp(pump)
        guard case .closed(let incident)? = changes.first else {
            Issue.record("it is not closed: \(changes)")
            return
        }
        #expect(incident.id == opened.id)
        #expect(incident.fault == (.us, .link))
        #expect(incident.start == at(100))
        #expect(incident.end == at(500))
        #expect(!incident.isUnexplained)
        #expect(book.incidents.count == 1)
    }

    @Test mutating func `an outage makes one without any silence`() throws {
        let pump = try place("pump")
        guard case .opened(let incident)? = book.told(pump, outage(from: 1, to: nil), start: at(1), end: nil).first
        else {
            Issue.record("it is not opened")
            return
        }
        #expect(incident.fault == (.us, .link))
        guard case .closed? = book.told(pump, outage(from: 1, to: 9), start: at(1), end: at(9)).first else {
            Issue.record("it is not closed")
            return
        }
        #expect(book.incidents.map(\.id) == [incident.id])
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
        for number in 0..<50 { _ = book.fell(try place("d\(number)"), since: at(number / 2), before: report(0)) }
        _ = book.fell(try place("far", site: "south"), since: at(3), before: report(0))
        #expect(book.incidents.count == 2)
        for number in 0..<50 {
            let device = try place("d\(number)")
            _ = book.returned(device, after: report(500), at: at(500))
            _ = book.caughtUp(device)
        }
        let north = try #require(book.incidents.first { $0.site == "north" })
        #expect(north.devices.count == 50)
        #expect(!north.isOpen)
        #expect(north.parts.values.allSatisfy { $0.verdict == .site })
        #expect(north.fault.attribution == .upstream)
        #expect(book.open(at: "south") != nil)
    }

    @Test mutating func `what is told late refines the one that is over`() throws {
        let (one, two) = (try place("one"), try place("two"))
        _ = book.fell(one, since: at(100), before: report(100))
        _ = book.returned(one, after: report(500), at: at(500))
        _ = book.caughtUp(one)
        let changes = book.told(two, outage("o2", from: 120, to: 400), start: at(120), end: at(400))
        #expect(book.incidents.count == 1)
        guard case .refined(let incident)? = changes.first else {
            Issue.record("it is not refined: \(changes)")
            return
        }
        #expect(incident.devices == ["one", "two"])
        #expect(incident.fault == (.us, .link))
    }

    @Test mutating func `what is far away in time is another`() throws {
        let pump = try place("pump")
        _ = book.told(pump, outage("o1", from: 1, to: 9), start: at(1), end: at(9))
        _ = book.told(pump, outage("o2", from: 100, to: 109), start: at(100), end: at(109))
        #expect(book.incidents.count == 2)
    }

    @Test mutating func `sleep is harmless`() throws {
        let laptop = try place("laptop")
        _ = book.fell(laptop, since: at(1), before: report(1))
        _ = book.returned(laptop, after: report(900), at: at(900))
        _ = book.slept(laptop)
        let incident = try #require(book.caughtUp(laptop).first?.incident)
        #expect(incident.isHarmless)
        #expect(!incident.isOpen)
    }

    @Test mutating func `a flood of outages is bounded`() throws {
        let pump = try place("pump")
        _ = book.fell(pump, since: at(0), before: report(0))
        for number in 0..<2000 {
            _ = book.told(pump, outage("o\(number)", from: number, to: number), start: at(number), end: at(number))
        }
        #expect(book.incidents.count == 1)
        #expect(book.incidents[0].parts["pump"]?.outages.count == 256)
    }

    @Test mutating func `only so many that are over are kept`() throws {
        let pump = try place("pump")
        for number in 0..<200 {
            let begin = number * 1000
            _ = book.told(pump, outage("o\(number)", from: begin, to: begin), start: at(begin), end: at(begin))
        }
        #expect(book.incidents.count <= 17)
    }
}
