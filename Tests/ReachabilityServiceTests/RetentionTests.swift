import GRDB
import LinuxSupport
import ReachabilityLedger
import ServiceLab
import TestSupport
import Testing

@testable import ReachabilityService

/// Deletion of old data, and the sums that remain.
@Suite struct RetentionTests {
    private let directory = HistoryDirectory()

    /// Returns a world with six days of outages of random lengths and one restart of the service.
    private func play(_ options: HistoryWriter.Options) throws -> HistoryWorld {
        var generator = SeededGenerator(seed: 18)
        let world = try HistoryWorld(directory)
        world.start(options)
        for turn in 0..<500 {
            world.advance(.milliseconds(Int.random(in: 1...2_000_000, using: &generator)))
            world.play(turn % 2 == 1)
            if turn == 250 {
                world.stop()
                world.advance(.seconds(4000))
                world.start(options)
            }
        }
        world.flush()
        return world
    }

    private func availability(_ world: HistoryWorld, from: LedgerInstant, to: LedgerInstant) throws -> Availability {
        let store = try #require(world.writer.store)
        let summed = try store.settledWindow(of: "internet", from: from, to: to)
        let parts = summed.map { [(from, $0.from), ($0.to, to)] } ?? [(from, to)]
        let intervals = try parts.filter { $0 < $1 }.flatMap { from, to in
            try store.intervals(of: "internet", from: from, to: to, limit: .max).map { interval in
                let end = min(interval.end ?? to, to)
                return LedgerInterval(interval.state, from: max(interval.start, from), to: end)
            }
        }
        var availability = Availability(of: intervals, from: from, to: to)
        for day in try store.settledDays(of: "internet", from: from, to: to, now: world.service.snapshot.now) {
            availability.add(day.times)
        }
        return availability
    }

    /// Returns the starts of days of the ledger's time.
    private func days(_ world: HistoryWorld) throws -> [LedgerInstant] {
        let day: Int64 = 86400 * 1_000_000_000
        let first = try #require(try world.intervals().first).start.nanoseconds / day
        return (first...first + 5).map { LedgerInstant(nanoseconds: $0 * day) }
    }

    @Test func `the sums of days equal the sums of their intervals`() throws {
        let world = try play(HistoryWriter.Options())
        let store = try #require(world.writer.store)
        let now = world.service.snapshot.now
        let days = try days(world)
        var chance = SeededGenerator(seed: 34)
        let windows =
            (0..<50).map { _ in
                let from = days[0] + .seconds(Int.random(in: 0...3 * 86_400, using: &chance))
                return (from: from, to: min(now, from + .seconds(Int.random(in: 1...4 * 86_400, using: &chance))))
            } + zip(days, days.dropFirst()).map { (from: $0, to: $1) } + [(from: days[0], to: now)]
        #expect(try store.settledWindow(of: "internet", from: days[0], to: now) == nil)
        let exact = try windows.map { try availability(world, from: $0.from, to: $0.to) }
        while try store.sumDays(now) {}
        let summed = try #require(try store.settledWindow(of: "internet", from: days[0], to: now))
        #expect(summed.to >= days[4])
        #expect(try windows.map { try availability(world, from: $0.from, to: $0.to) } == exact)
        // Repeated summing and deletion of intervals do not change the sums.
        while try store.sumDays(now) {}
        while try store.prune(before: days[3]) {}
        while try store.sumDays(now) {}
        #expect(try windows.map { try availability(world, from: $0.from, to: $0.to) }.last == exact.last)
    }

    @Test(arguments: [true, false])
    func `the sums of whole days do not change when intervals are deleted`(byAge: Bool) throws {
        var options = HistoryWriter.Options()
        let world = try play(options)
        let (days, now) = (try days(world), world.service.snapshot.now)
        let before = try days.map { try availability(world, from: $0, to: now) }
        #expect(before[0].duration(.us) > .seconds(3600) && before[0].duration(.unknown) >= .seconds(4000))
        world.stop()
        if byAge { options.keep = .seconds(100_000) } else { options.maximumSize = 1 }
        world.start(options)
        let count = try world.intervals().count
        world.writer.mark()
        #expect(try world.intervals().count < count - 100)
        #expect(try days.map { try availability(world, from: $0, to: now) } == before)
        // Of a day that lies only partly in the window, the known part is counted.
        let later = days[0] + .seconds(50_000)
        let part = try availability(world, from: later, to: now)
        #expect(part.window == now - later)
        #expect(part.duration(.up) < before[0].duration(.up))
    }

    @Test(arguments: [10 * 365, 401]) func `a boot with a clock that is ahead deletes nothing`(days: Int) throws {
        let world = try HistoryWorld(directory)
        world.start()
        for turn in 0..<14 {
            world.advance(.seconds(60))
            world.setCarrier(turn % 2 == 1)
        }
        world.stop()
        let before = try intervals(world)
        let right = Duration.seconds(1_700_000_000 + 3600)
        try world.reboot(after: .zero, wallClock: right + .seconds(days * 86_400))
        world.start()
        world.writer.mark()
        #expect(try world.intervals().prefix(before.count - 1) == before.dropLast())
        // The clock is corrected, and later the machine boots again.
        world.advance(.seconds(3600))
        world.flush()
        world.writer.mark()
        world.stop()
        try world.reboot(after: .zero, wallClock: right + .seconds(7200))
        world.start()
        world.writer.mark()
        #expect(try world.intervals().prefix(before.count - 1) == before.dropLast())
    }

    @Test func `the retention time counts only the time in which the service was running`() throws {
        let world = try HistoryWorld(directory)
        var options = HistoryWriter.Options()
        options.keep = .seconds(10_000)
        for _ in 0..<4 {
            world.start(options)
            world.setCarrier(false)
            world.advance(.seconds(1000))
            world.setCarrier(true)
            world.advance(.seconds(3000))
            world.stop()
            try world.reboot(after: .seconds(86_400))
        }
        world.start(options)
        world.writer.mark()
        // Each run lasted 4000 s, so intervals that ended more than two and a half runs ago are deleted.
        let first = try #require(try world.intervals().first)
        let now = world.service.snapshot.now
        #expect(now - first.start > .seconds(2 * 86_400) && now - first.start < .seconds(4 * 86_400))
    }

    /// Returns the stored intervals after the end of the service.
    private func intervals(_ world: HistoryWorld) throws -> [LedgerInterval] {
        let store = try HistoryStore(directory.file)
        defer { store.close() }
        return try store.intervals(
            of: "internet",
            from: LedgerInstant(nanoseconds: .min),
            to: LedgerInstant(nanoseconds: .max),
            limit: .max
        ).reversed()
    }

    @Test func `a file above the maximum size is reduced, which is logged once`() throws {
        var options = HistoryWriter.Options()
        let world = try play(options)
        options.maximumSize = try #require(try world.writer.store?.size()) - 20_000
        world.stop()
        world.start(options)
        let store = try #require(world.writer.store)
        world.writer.mark()
        #expect(try store.size() <= options.maximumSize)
        #expect(try world.intervals().count > 50)
        #expect(try world.intervals().last?.end == nil)
        world.writer.mark()
        #expect(world.log.lines.count { $0.hasSuffix("only the daily sums are kept") } == 1)
        #expect(try !store.shrink())
    }

    @Test func `deletion reads only old intervals and removes unused evidence`() throws {
        let world = try play(.init())
        let store = try #require(world.writer.store)
        let now = world.service.snapshot.now
        let plan = try store.database.read { db in
            let sql = "EXPLAIN QUERY PLAN " + HistoryStore.oldIntervals
            return try Row.fetchAll(db, sql: sql, arguments: [0, 0]).map { $0["detail"] as String }
        }
        #expect(plan.count == 2 && plan[0].hasPrefix("SCAN target"))
        #expect(plan.last == "SEARCH interval USING PRIMARY KEY (target=? AND start<?)")
        func steps() throws -> Int? {
            try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM steps") }
        }
        #expect(try steps() ?? 0 > 1)
        while try store.prune(before: now + .seconds(1)) {}
        // The evidence of the open interval is kept.
        #expect(try world.intervals().count == 1)
        #expect(try steps() ?? 9 <= 1)
    }

    @Test func `an open interval is kept even above the maximum size`() throws {
        let world = try HistoryWorld(directory)
        var options = HistoryWriter.Options()
        options.maximumSize = 1
        world.start(options)
        world.advance(.seconds(1_000_000))
        world.writer.mark()
        #expect(try world.texts() == ["up and goes on"])
        #expect(world.writer.status.fault == nil)
    }
}
