import ReachabilityLedger
import Testing

@Suite struct TargetLedgerTests {
    @Test func `an unchanged state causes no event`() {
        var book = Book()
        book.take(up, at: at(10))
        #expect(book.events.isEmpty)
        #expect(book.ledger.current.start == at(0))
    }

    @Test func `an outage is one continuous time in which the target is not up`() {
        var book = Book()
        book.take(link, at: at(100), reason: "linkDown")
        book.take(route, at: at(110), reason: "noRoute")
        #expect(book.ledger.outage?.intervals.count == 2)
        book.take(up, at: at(150))
        #expect(book.outages.count == 1)
        let outage = book.outages[0]
        #expect(outage.start == at(100))
        #expect(outage.end == at(150))
        #expect(outage.ending == .up)
        #expect(outage.intervals.map(\.end) == [at(110), at(150)])
        #expect(outage.duration(at: at(999)) == .milliseconds(50))
        #expect(book.ledger.outage == nil)
    }

    @Test func `an outage has the attribution of its longest interval, the first of equal ones`() {
        var book = Book()
        book.take(link, at: at(100))
        book.take(route, at: at(101))
        book.take(up, at: at(150))
        #expect(book.outages[0].deciding(at: at(200)).state == route)
        book.take(link, at: at(200))
        book.take(route, at: at(210))
        book.take(up, at: at(220))
        #expect(book.outages[1].deciding(at: at(300)).state == link)
    }

    @Test func `the open interval of a lasting outage counts until now`() {
        var book = Book()
        book.take(link, at: at(100))
        book.take(route, at: at(200))
        #expect(book.ledger.outage?.deciding(at: at(250)).state == link)
        #expect(book.ledger.outage?.deciding(at: at(301)).state == route)
        #expect(book.ledger.outage?.end == nil)
    }

    @Test func `unknown time ends an outage with a mark, and the next one is separate`() {
        var book = Book()
        book.take(link, at: at(100))
        book.take(gone, at: at(150))
        book.take(link, at: at(170))
        book.take(up, at: at(180))
        #expect(book.outages.map(\.ending) == [.unknown, .up])
        #expect(book.outages.map { $0.duration(at: at(0)) } == [.milliseconds(50), .milliseconds(10)])
        #expect(Set(book.outages.map(\.id)).count == 2)
    }

    @Test func `maintenance ends an outage, and failures within it are no outage`() {
        var book = Book()
        book.take(link, at: at(100))
        var planned = link
        planned.isMaintenance = true
        book.take(planned, at: at(120))
        #expect(book.outages.map(\.ending) == [.maintenance])
        book.take(up, at: at(140))
        #expect(book.outages.count == 1)
        #expect(book.ledger.outage == nil)
    }

    @Test func `the uncertainty of a change does not exceed the previous interval`() {
        var book = Book()
        let refused = TargetState(.them, .refused, basis: .checks)
        book.take(refused, at: at(100), reason: "refused", uncertainty: .milliseconds(30))
        book.take(TargetState(.up, basis: .checks), at: at(110), uncertainty: .milliseconds(30))
        #expect(book.outages[0].uncertainty == .milliseconds(40))
        #expect(book.ledger.current.uncertainty == .milliseconds(10))
    }

    @Test func `an open interval can be refined, a closed one is final`() {
        var book = Book()
        book.take(TargetState(.upstream, .provider, basis: .checks), at: at(100), reason: "silent")
        let id = book.ledger.outage?.id
        book.refine(TargetState(.upstream, .gateway, basis: .checks), reason: "neighbourFailed")
        #expect(book.ledger.current.start == at(100))
        #expect(book.ledger.outage?.id == id)
        #expect(book.ledger.outage?.deciding(at: at(110)).reason == "neighbourFailed")
        // Refining to up would end the outage, which is a change of state.
        book.refine(up)
        #expect(book.ledger.current.state.attribution == .upstream)
    }

    @Test func `an instant before the open interval counts as its beginning`() {
        var book = Book(from: at(100))
        book.take(link, at: at(50))
        book.take(up, at: at(60))
        #expect(book.intervals.allSatisfy { $0.start == at(100) })
        #expect(book.outages[0].duration(at: at(100)) == .zero)
    }

    @Test func `an outage has the same identifier everywhere, and no other has it`() {
        let first = Book(from: at(5), link).ledger.outage
        #expect(first?.id == Book(from: at(5), route).ledger.outage?.id)
        #expect(first?.id != Book(from: at(6), link).ledger.outage?.id)
        #expect(first?.id != TargetLedger(of: "erp", from: at(5), link).outage?.id)
    }
}
