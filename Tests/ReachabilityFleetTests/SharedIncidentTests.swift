import ReachabilityFleet
import ReachabilityLedger
import Testing

/// The failure of a target that machines of several sites report is one incident.
@Suite struct SharedIncidentTests {
    private var book = FleetIncidentTracker()

    /// A machine reports the failure of a target.
    @discardableResult
    private mutating func fails(
        _ target: String = "erp",
        at place: DeviceID,
        from start: Int,
        to end: Int? = nil
    ) -> [FleetIncidentTracker.Change] {
        let own = outage("\(target)-\(place)-\(start)", .them, .host, target: target, from: start, to: end)
        return book.record(place, own, start: at(start), end: end.map { at($0) })
    }

    /// A machine loses its link.
    private mutating func unplugs(_ place: DeviceID, from start: Int) {
        _ = book.record(place, outage("link-\(place)", from: start, to: nil), start: at(start), end: nil)
    }

    @Test mutating func `machines of several sites that cannot reach a target share one incident`() throws {
        let places = try ["north", "south", "west"].map { try place("d", site: $0) } + [place("e", site: "south")]
        for (index, place) in places.enumerated() {
            let kinds = fails(at: place, from: 100 + index * 60).map(\.kind)
            #expect(kinds == [index == 0 ? .opened : .refined])
        }
        let incident = try #require(book.incidents.first)
        #expect(book.incidents.count == 1 && incident.site == "north" && incident.sites == ["north", "south", "west"])
        #expect(incident.devices == ["d", "south/d", "south/e", "west/d"])
        #expect(incident.devices.compactMap { incident.place(of: $0) }.sorted() == places.sorted())
        #expect(incident.fault == (.them, .host) && incident.target == "erp" && incident.start == at(100))
        for place in places { #expect(book.open(of: place)?.id == incident.id) }
        // The target works again.
        let kinds = places.enumerated().flatMap { index, place in
            fails(at: place, from: 100 + index * 60, to: 500 + index).map(\.kind)
        }
        #expect(kinds == [.refined, .refined, .refined, .closed])
        #expect(book.incidents.count == 1 && book.incidents.first?.end == at(503))
    }

    @Test mutating func `other targets and other times belong to other incidents`() throws {
        let (north, south) = (try place("d"), try place("d", site: "south"))
        fails(at: north, from: 100, to: 200)
        fails("crm", at: south, from: 100)
        // The target failed again after a pause.
        fails(at: south, from: 210, to: 220)
        // The target has been failing for a long time, so another failure must not be hidden.
        fails("web", at: north, from: 1000)
        fails("web", at: south, from: 1301)
        #expect(book.incidents.count == 5 && book.incidents.allSatisfy { !$0.isShared })
    }

    @Test mutating func `local faults do not join the failure of a target at another site or at the same site`() throws
    {
        let (north, south, other) = (try place("d"), try place("d", site: "south"), try place("e"))
        fails(at: north, from: 100)
        fails(at: south, from: 101)
        unplugs(other, from: 102)
        unplugs(south, from: 300)
        _ = book.note(DeviceAbsence(since: at(103), noticed: at(104)), of: try place("f"))
        #expect(book.incidents.count == 3)
        let shared = try #require(book.incidents.first { $0.isShared })
        #expect(shared.devices == ["d", "south/d"] && shared.fault.attribution == .them)
    }

    @Test mutating func `a failure at a site with mostly local faults does not take in other sites`() throws {
        for number in 0..<3 { unplugs(try place("d\(number)"), from: 100) }
        fails(at: try place("d3"), from: 101)
        fails(at: try place("d", site: "south"), from: 102)
        #expect(book.incidents.count == 2 && book.incidents.allSatisfy { !$0.isShared })
    }

    @Test mutating func `a repeated or late report of a shared incident changes nothing or only its part`() throws {
        let (north, south) = (try place("d"), try place("d", site: "south"))
        fails(at: north, from: 100, to: 200)
        fails(at: south, from: 110, to: 190)
        #expect(fails(at: south, from: 110, to: 190).isEmpty && book.contains("erp-south/d-110", of: south))
        #expect(!book.contains("erp-south/d-110", of: north))
        #expect(fails(at: try place("d", site: "west"), from: 120, to: 210).map(\.kind) == [.refined])
        #expect(book.incidents.count == 1 && book.incidents.first?.end == at(210))
    }

    @Test mutating func `a shared incident continues after a restart and after the removal of machines`() throws {
        let (north, south, west) = (try place("d"), try place("d", site: "south"), try place("d", site: "west"))
        for (index, place) in [north, south, west].enumerated() { fails(at: place, from: 100 + index) }
        let stored = try #require(book.incidents.first)
        let again = FleetIncident(id: stored.id, site: stored.site, start: stored.start, parts: stored.parts)
        #expect(again == stored)
        book = FleetIncidentTracker([again])
        #expect(fails(at: south, from: 101, to: 150).map(\.site) == ["north"])
        #expect(book.forget(north).map(\.kind) == [.refined])
        #expect(book.incidents.first?.sites == ["south", "west"] && book.open(of: west)?.id == stored.id)
        #expect(book.forget(west).map(\.kind) == [.closed])
        #expect(book.forget(south).map(\.kind) == [.refined] && book.incidents.isEmpty)
    }

    @Test mutating func `a target that only a removed machine reported takes in no other site`() throws {
        let (removed, other) = (try place("d"), try place("e"))
        fails(at: removed, from: 100)
        fails("crm", at: other, from: 101)
        #expect(book.incidents.count == 1)
        _ = book.forget(removed)
        fails(at: try place("d", site: "south"), from: 110)
        #expect(book.incidents.count == 2 && book.incidents.allSatisfy { !$0.isShared })
    }

    @Test mutating func `a machine that restarts ends its part of a shared incident`() throws {
        let (north, south) = (try place("d"), try place("d", site: "south"))
        fails(at: north, from: 100)
        let own = outage("o", .them, .host, target: "erp", from: 101, to: nil)
        _ = book.record(south, own, start: at(101), end: nil, boot: "one")
        #expect(book.recordCaughtUp(south, boot: "two", at: at(180)).map(\.kind) == [.refined])
        #expect(book.incidents.first?.parts["south/d"]?.isOpen == false && book.open(of: north) != nil)
    }

    @Test mutating func `ten thousand machines of a hundred sites share one incident`() throws {
        for number in 0..<10_000 { fails(at: try place("d\(number)", site: "s\(number % 100)"), from: number % 40) }
        #expect(book.incidents.count == 1 && book.incidents.first?.sites.count == 100)
    }
}
