import ReachabilityLedger
import TestSupport
import Testing

@Suite struct AvailabilityTests {
    @Test func `the six accounts add up to the window for random states`() {
        var random = SeededGenerator(seed: 18)
        let states = Attribution.allCases.flatMap { attribution in
            [false, true].map { TargetState(attribution, .undecided, isMaintenance: $0) }
        }
        for _ in 0..<300 {
            var book = Book(from: LedgerInstant(nanoseconds: .random(in: 0...1000, using: &random)))
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                // Some instants are in the past.
                let step = Int64.random(in: -50...1000, using: &random)
                let moment = LedgerInstant(nanoseconds: book.ledger.current.start.nanoseconds + step)
                let state = states.randomElement(using: &random) ?? up
                if Bool.random(using: &random) { book.take(state, at: moment) } else { book.refine(state) }
            }
            let intervals = book.intervals
            for (one, next) in zip(intervals, intervals.dropFirst()) { #expect(one.end == next.start) }
            let from = LedgerInstant(nanoseconds: .random(in: -100...20_000, using: &random))
            let to = LedgerInstant(nanoseconds: .random(in: -100...40_000, using: &random))
            let availability = Availability(of: intervals.shuffled(using: &random), from: from, to: to)
            let sum = LedgerAccount.allCases.reduce(Duration.zero) { $0 + availability.duration($1) }
            #expect(sum == max(.zero, to - from))
            #expect(LedgerAccount.allCases.allSatisfy { availability.duration($0) >= .zero })
            for share in [
                availability.availability, availability.theirs, availability.ours, availability.provider,
                availability.atLeast, availability.atMost,
            ] {
                if let share { #expect((0...1).contains(share)) }
            }
        }
    }

    @Test func `the durations of outages add up to the accounts us, upstream and them`() {
        var random = SeededGenerator(seed: 7)
        let states = Attribution.allCases.map { TargetState($0, .undecided) }
        var book = Book()
        var now = at(0)
        for _ in 0..<500 {
            now = now + .nanoseconds(Int64.random(in: 0...1_000_000, using: &random))
            book.take(states.randomElement(using: &random) ?? up, at: now)
        }
        book.take(up, at: now)
        let availability = Availability(of: book.intervals, from: at(0), to: now)
        let down = book.outages.reduce(Duration.zero) { $0 + $1.duration(at: now) }
        #expect(down == availability.duration(.us) + availability.duration(.upstream) + availability.duration(.them))
    }

    @Test func `availabilities and bounds match their definitions`() {
        var book = Book()
        book.take(link, at: at(500))
        book.take(TargetState(.upstream, .provider), at: at(600))
        book.take(TargetState(.them, .host), at: at(700))
        book.take(gone, at: at(750))
        book.take(TargetState(.up, isMaintenance: true), at: at(800))
        book.take(up, at: at(900))
        let availability = Availability(of: book.intervals, from: at(0), to: at(1000))
        // 600 up, 100 us, 100 upstream, 50 them, 50 unknown, 100 maintenance.
        #expect(availability.availability == 600.0 / 850)
        #expect(availability.theirs == 600.0 / 650)
        #expect(availability.ours == 750.0 / 850)
        #expect(availability.provider == 650.0 / 750)
        #expect(availability.atLeast == 0.6)
        #expect(availability.atMost == 0.65)
    }

    @Test func `time without an interval is unknown, and an empty window has no availability`() {
        let nothing = Availability(of: [], from: at(0), to: at(10))
        #expect(nothing.duration(.unknown) == .milliseconds(10))
        #expect(nothing.availability == nil)
        #expect(Availability(of: [], from: at(10), to: at(0)).window == .zero)
        #expect(Availability(of: [], from: at(10), to: at(0)).atLeast == nil)
    }
}
