import TestSupport
import Testing

@testable import ReachabilityLedger

/// Arithmetic at the ends of the time line.
@Suite struct LedgerInstantTests {
    private static let instants = ExtremeValues.integers.map { LedgerInstant(nanoseconds: $0) }
    private static let durations =
        ExtremeValues.integers.flatMap { [Duration.nanoseconds($0), .milliseconds($0), .seconds($0)] }

    @Test func `a sum outside the time line is its first or last instant`() {
        for instant in Self.instants {
            for duration in Self.durations {
                #expect((instant + duration >= instant) == (duration >= .zero || instant.nanoseconds == .min))
                #expect((instant - duration <= instant) == (duration >= .zero || instant.nanoseconds == .max))
            }
        }
        #expect(LedgerInstant(nanoseconds: 5) + .nanoseconds(3) == LedgerInstant(nanoseconds: 8))
        #expect(LedgerInstant(nanoseconds: -5) - .nanoseconds(3) == LedgerInstant(nanoseconds: -8))
    }

    @Test func `the difference of any two instants is exact`() {
        for one in Self.instants {
            for other in Self.instants {
                #expect(.nanoseconds(other.nanoseconds) + (one - other) == .nanoseconds(one.nanoseconds))
            }
        }
    }

    @Test func `the remainder of a length is never negative`() {
        for instant in Self.instants {
            for length in Self.durations {
                let remainder = instant.remainder(of: length)
                #expect(remainder >= .zero && remainder < max(length, .nanoseconds(1)))
            }
        }
        #expect(LedgerInstant(nanoseconds: -1).remainder(of: .nanoseconds(10)) == .nanoseconds(9))
    }

    @Test func `the accounts of any window add up to its length`() {
        for from in Self.instants {
            for to in Self.instants {
                let intervals = Self.instants.map { start in
                    LedgerInterval(TargetState(.up), from: start, to: start + .seconds(1 << 40))
                }
                var availability = Availability(of: intervals, from: from, to: to)
                for time in Self.durations { availability.add(time, to: .us) }
                let sum = LedgerAccount.allCases.reduce(Duration.zero) { $0 + availability.duration($1) }
                #expect(sum == availability.window)
                #expect(availability.atMost.map { 0...1 ~= $0 } ?? true)
            }
        }
    }
}
