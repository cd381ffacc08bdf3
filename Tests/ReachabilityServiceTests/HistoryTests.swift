import Dispatch
import GRDB
import LinuxSupport
import ReachabilityLedger
import ServiceLab
import TestSupport
import Testing

@testable import ReachabilityService

/// The history across restarts of the service and of the machine.
@Suite struct HistoryTests {
    private let directory = HistoryDirectory()

    @Test func `after a restart the gap is unknown and earlier intervals are unchanged`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.lose(for: .milliseconds(400))
        world.advance(.seconds(5))
        world.stop()
        world.advance(.seconds(60))
        world.start()
        world.advance(.seconds(1))
        #expect(
            try world.texts() == [
                "up 10s", "us.link 400ms", "up 5s", "unknown.notObserved 1m", "up and goes on",
            ]
        )
        #expect(world.writer.status.fault == nil)
    }

    @Test func `undelivered events are pending and written at an orderly stop`() throws {
        let world = try HistoryWorld(directory)
        world.start()
        let gate = DispatchSemaphore(value: 0)
        let slow = world.service.addListener { _ in gate.wait() }
        world.advance(.seconds(10))
        world.play(false)
        world.advance(.seconds(2))
        world.play(true)
        #expect(world.writer.status.pending > 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(100)) { for _ in 0..<100 { gate.signal() } }
        world.stop()
        slow.cancel()
        world.start()
        #expect(try world.texts().prefix(2) == ["up 10s", "us.link 2s"])
        #expect(world.writer.status.pending == 0)
    }

    @Test func `an outage ends when the service stops`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.setCarrier(false, for: .seconds(3))
        world.stop()
        world.advance(.seconds(7))
        world.start()
        let outages = try #require(try world.writer.store?.outageStarts(upTo: world.service.snapshot.now, limit: 10))
        #expect(outages.count == 2)
        let entries = try #require(try world.writer.store?.outage(of: "internet", from: outages[1].start))
        #expect(entries.map(\.interval.state.description) == ["up", "us.link", "unknown.notObserved"])
        #expect(entries.compactMap(\.evidence).count == 2)
    }

    @Test func `after a kill the time since the last mark is unknown`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.writer.mark()
        world.advance(.seconds(10))
        world.kill()
        world.advance(.seconds(5))
        world.start()
        #expect(try world.texts() == ["up 10s", "unknown.notObserved 15s", "up and goes on"])
    }

    @Test func `a supervisor can record how long a killed service was running`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(20))
        let now = world.service.snapshot.now
        world.kill()
        let store = try HistoryStore(directory.file)
        try store.markLastRun(at: now)
        store.close()
        world.advance(.seconds(5))
        world.start()
        #expect(try world.texts() == ["up 20s", "unknown.notObserved 5s", "up and goes on"])
    }

    @Test func `an outage continues across a kill with its start, evidence and a single end`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.setCarrier(false)
        let began = try #require(world.outages.first)
        world.advance(.seconds(300))
        world.writer.mark()
        world.advance(.seconds(9))
        world.kill()
        world.advance(.seconds(4))
        world.start()
        #expect(world.outages.map(\.id) == [began.id])
        #expect(try world.texts() == ["up 10s", "us.link and goes on"])
        // The totals of this run do not include earlier time.
        let (account, now) = (
            try #require(world.service.snapshot.accounting.accounts["internet"]), world.service.snapshot.now
        )
        #expect(account.total(.us, at: now) == .zero)
        world.advance(.seconds(7))
        world.setCarrier(true)
        #expect(try world.texts() == ["up 10s", "us.link 320s", "up and goes on"])
        #expect(world.service.snapshot.accounting.accounts["internet"]?.total(.us, at: now) == .seconds(7))
        let written = try #require(try world.writer.store?.outageStarts(upTo: world.service.snapshot.now, limit: 10))
        #expect(written.map(\.start) == [began.start])
        #expect(
            try world.writer.store?.outage(of: "internet", from: began.start).compactMap(\.evidence).isEmpty == false
        )
    }

    @Test func `an outage that began just before a kill continues`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.setCarrier(false)
        world.kill()
        world.advance(.seconds(2))
        world.start()
        #expect(try world.texts() == ["up 10s", "us.link and goes on"])
        // A second kill does not create another outage.
        world.advance(.seconds(3))
        world.writer.mark()
        world.kill()
        world.start()
        world.setCarrier(true)
        #expect(try world.texts() == ["up 10s", "us.link 5s", "up and goes on"])
    }

    @Test func `an outage that is over after a kill ends at the last mark`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.setCarrier(false, for: .seconds(20))
        world.writer.mark()
        world.kill()
        world.kernel.setCarrier("eth0", true)
        world.advance(.seconds(4))
        world.start()
        #expect(try world.texts() == ["up 10s", "us.link 20s", "unknown.notObserved 4s", "up and goes on"])
    }

    @Test func `an outage does not continue after a gap of a minute or a reboot`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.setCarrier(false, for: .seconds(20))
        world.writer.mark()
        world.kill()
        world.advance(.seconds(61))
        world.start()
        #expect(try world.texts() == ["up 10s", "us.link 20s", "unknown.notObserved 61s", "us.link and goes on"])
        world.advance(.seconds(5))
        world.writer.mark()
        world.kill()
        try world.reboot(after: .seconds(5))
        world.kernel.setCarrier("eth0", false)
        world.start()
        #expect(
            try world.intervals().map(\.state.description).suffix(3) == ["us.link", "unknown.notObserved", "us.link"]
        )
    }

    @Test(.timeLimit(.minutes(5))) func `marks are more frequent during an outage`() async throws {
        let world = try HistoryWorld(directory)
        var options = HistoryWriter.Options()
        options.outageMark = .milliseconds(5)
        world.start(options)
        world.setCarrier(false, for: .seconds(1))
        for _ in 0..<2 {
            world.advance(.seconds(10))
            let now = world.service.snapshot.now
            while try world.writer.store?.lastMark() != now { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(HistoryWriter.Options().outageMark == .seconds(10))
    }

    @Test(arguments: [nil, Duration.seconds(1_000_000), .seconds(2_000_000_000)])
    func `intervals of a later boot follow earlier ones with any wall clock`(wallClock: Duration?) throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.stop()
        try world.reboot(after: .seconds(30), wallClock: wallClock)
        world.start()
        world.advance(.seconds(5))
        world.setCarrier(false)
        let intervals = try world.intervals()
        expectPartition(intervals)
        #expect(intervals.first?.end.map { $0 - intervals[0].start } == .seconds(10))
        // The displayed times of the first boot do not change.
        #expect(world.service.snapshot.calendar.wall(at: intervals[0].start) <= .seconds(1_700_001_000))
        #expect(world.service.snapshot.calendar.wall(at: intervals[0].start) >= .seconds(1_700_000_000))
    }

    @Test func `intervals never overlap or leave gaps after random stops, kills and reboots`() throws {
        var generator = SeededGenerator(seed: 18)
        let world = try HistoryWorld(directory)
        world.start()
        for _ in 0..<200 {
            world.advance(.milliseconds(Int.random(in: 0...5000, using: &generator)))
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                world.stop()
                world.advance(.milliseconds(Int.random(in: 0...5000, using: &generator)))
                world.start()
            case 1:
                world.kill()
                world.advance(.milliseconds(Int.random(in: 0...5000, using: &generator)))
                world.start()
            case 2:
                world.kill()
                let seconds = Int.random(in: 0...3_000_000_000, using: &generator)
                let wall = Bool.random(using: &generator) ? nil : Duration.seconds(seconds)
                try world.reboot(after: .seconds(5), wallClock: wall)
                world.start()
            case 3: world.writer.mark()
            default: world.setCarrier(Bool.random(using: &generator))
            }
        }
        #expect(world.log.lines == [])
        expectPartition(try world.intervals())
    }

    @Test func `a removed target ends its interval, and the gap until it is added again is unknown`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.setCarrier(false, for: .seconds(3))
        world.service.remove("internet")
        world.flush()
        #expect(try world.texts() == ["up 10s", "us.link 3s"])
        world.advance(.seconds(7))
        world.watch()
        #expect(try world.texts() == ["up 10s", "us.link 3s", "unknown.notObserved 7s", "us.link and goes on"])
        let starts = try world.writer.store?.outageStarts(upTo: world.service.snapshot.now, limit: 10)
        #expect(starts?.count == 2)
    }

    @Test func `intervals older than the retention time are deleted`() throws {
        let world = try HistoryWorld(directory)
        var options = HistoryWriter.Options()
        options.keep = .seconds(100)
        world.start(options)
        for turn in 0..<1200 {
            world.advance(.milliseconds(500))
            world.play(turn % 2 == 1)
        }
        world.flush()
        world.writer.mark()
        let intervals = try world.intervals()
        let first = try #require(intervals.first)
        #expect(world.service.snapshot.now - first.start <= .seconds(101))
        #expect(intervals.count > 190)
        expectPartition(intervals)
    }

    private func expectPartition(_ intervals: [LedgerInterval], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(!intervals.isEmpty, sourceLocation: sourceLocation)
        for (one, next) in zip(intervals, intervals.dropFirst()) {
            #expect(one.end == next.start, sourceLocation: sourceLocation)
            #expect(one.start < next.start, sourceLocation: sourceLocation)
        }
        #expect(intervals.last?.end == nil, sourceLocation: sourceLocation)
    }
}
