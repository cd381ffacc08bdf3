import Foundation
import GRDB
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityService

/// A history whose file is deleted, moved or replaced while the service is running.
@Suite struct HistoryLossTests {
    private let directory = HistoryDirectory()

    private func delete(_ suffixes: [String] = ["", "-wal", "-shm", ".lock"]) throws {
        for suffix in suffixes { try FileManager.default.removeItem(atPath: directory.file + suffix) }
    }

    /// Returns a service with an outage of 4 s that ended 10 s ago.
    private func world() throws -> HistoryWorld {
        let world = try HistoryWorld(directory, runningFor: .seconds(10))
        world.lose(for: .seconds(4))
        world.advance(.seconds(10))
        world.flush()
        return world
    }

    private static func entries(in file: String) throws -> [Row] {
        try DatabaseQueue(path: file).read { try Row.fetchAll($0, sql: "SELECT * FROM interval") }
    }

    @Test(arguments: [["", "-wal", "-shm", ".lock"], [""], ["", "-wal"]])
    func `a deleted file is recreated with all events in memory`(suffixes: [String]) throws {
        let world = try world()
        let evidence = try world.evidence()
        #expect(!evidence.isEmpty)
        try delete(suffixes)
        world.setCarrier(false, for: .seconds(2))
        #expect(try world.texts() == ["up 10s", "us.link 4s", "up 10s", "us.link and goes on"])
        #expect(try world.evidence().isSuperset(of: evidence))
        #expect(world.writer.status.fault == nil)
        #expect(world.writer.status.pending == 0)
        world.setCarrier(true)
        world.flush()
        #expect(world.log.lines.map { $0.contains("was deleted or moved away") } == [true])
        // The file is complete, so another run can continue it.
        world.kill()
        world.advance(.seconds(5))
        world.start()
        let known = ["up 10s", "us.link 4s", "up 10s", "us.link 2s", "unknown.notObserved 5s", "up and goes on"]
        #expect(try world.texts() == known)
    }

    @Test func `an idle service detects the loss at the next mark`() throws {
        let world = try world()
        try delete()
        world.writer.mark()
        #expect(try world.texts() == ["up 10s", "us.link 4s", "up and goes on"])
        #expect(FileManager.default.fileExists(atPath: directory.file))
    }

    @Test func `a moved file is complete at its new path`() throws {
        let world = try world()
        try FileManager.default.moveItem(atPath: directory.file, toPath: directory.file + ".kept")
        world.setCarrier(false)
        #expect(try world.texts().last == "us.link and goes on")
        let other = try DatabaseQueue(path: directory.file + ".kept")
        let count = try other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM interval") }
        #expect(count == 3)
    }

    @Test func `a stopped service leaves a complete file, and an earlier copy of it is continued`() throws {
        let world = try world()
        world.stop()
        #expect(FileManager.default.contents(atPath: directory.file + "-wal")?.isEmpty ?? true)
        let copy = directory.file + ".copy"
        try FileManager.default.copyItem(atPath: directory.file, toPath: copy)
        world.start()
        world.advance(.seconds(3))
        world.setCarrier(false)
        try delete([""])
        try FileManager.default.moveItem(atPath: copy, toPath: directory.file)
        world.advance(.seconds(1))
        world.setCarrier(true)
        #expect(try world.texts() == ["up 10s", "us.link 4s", "up 10s", "up 3s", "us.link 1s", "up and goes on"])
        #expect(world.writer.status.fault == nil)
    }

    @Test func `the write-ahead log of a replacement file is not deleted`() throws {
        let world = try world()
        try delete(["", "-wal", "-shm"])
        let other = Data("the log of another database".utf8)
        for suffix in ["-wal", "-shm"] {
            #expect(FileManager.default.createFile(atPath: directory.file + suffix, contents: other))
        }
        world.writer.store?.close()
        for suffix in ["-wal", "-shm"] {
            #expect(try Data(contentsOf: URL(filePath: directory.file + suffix)) == other)
        }
    }

    @Test func `a database of another program is not changed, and monitoring continues`() throws {
        let world = try world()
        try delete()
        let queue = try DatabaseQueue(path: directory.file)
        try queue.write { try $0.execute(sql: "CREATE TABLE other (a)") }
        try queue.close()
        let before = try Data(contentsOf: URL(filePath: directory.file))
        world.setCarrier(false)
        #expect(world.writer.status.fault?.kind == .foreign)
        #expect(try Data(contentsOf: URL(filePath: directory.file)) == before)
        #expect(world.service.snapshot.accounting.accounts["internet"]?.ledger.outage != nil)
        // When the foreign database is deleted, a new history is created.
        try delete([""])
        world.writer.mark()
        #expect(world.writer.status.fault == nil)
        #expect(try world.texts() == ["up 10s", "us.link 4s", "up 10s", "us.link and goes on"])
    }

    @Test func `a history with later entries is not changed`() throws {
        let world = try world()
        let other = HistoryDirectory()
        let later = try HistoryWorld(other)
        later.advance(.seconds(86400))
        later.start()
        later.stop()
        try delete(["", "-wal", "-shm"])
        try FileManager.default.copyItem(atPath: other.file, toPath: directory.file)
        world.setCarrier(false)
        #expect(world.writer.status.fault?.kind == .foreign)
        #expect(world.log.lines.contains { $0.contains("restart the service") })
        // No entry is read or changed.
        #expect(world.writer.store == nil)
        #expect(try Self.entries(in: directory.file) == Self.entries(in: other.file))
    }

    @Test func `a missing directory is reported, and all events are written when it is back`() throws {
        let world = try world()
        try FileManager.default.removeItem(atPath: directory.path)
        world.setCarrier(false)
        #expect(world.writer.status.fault?.kind == .denied)
        world.advance(.seconds(1))
        world.setCarrier(true)
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
        world.advance(.seconds(1))
        world.flush()
        #expect(try world.texts() == ["up 10s", "us.link 4s", "up 10s", "us.link 1s", "up and goes on"])
        #expect(world.writer.status.pending == 0)
    }

    @Test func `events that are no longer in memory are unknown in the new file`() throws {
        let world = try HistoryWorld(directory)
        world.start()
        for turn in 0...Accounting.intervalLimit {
            world.advance(.milliseconds(10))
            world.observe(turn % 2 == 1 ? .reachable : .notReachable(reason: "noCarrier"))
        }
        world.flush()
        try delete()
        world.writer.mark()
        let intervals = try world.intervals()
        #expect(intervals.count < Accounting.intervalLimit)
        #expect(intervals[0].state == TargetState(.unknown, .notObserved))
        for (one, next) in zip(intervals, intervals.dropFirst()) { #expect(one.end == next.start) }
        #expect(intervals[0].start == world.service.snapshot.accounting.accounts["internet"]?.start)
    }

    @Test func `notes, actors and announced maintenance are written to the new file`() throws {
        let world = try world()
        let outage = try #require(world.outages.first)
        world.service.note("the plug", by: "root", on: outage)
        let process = ActingProcess(id: 812, program: "openvpn", unit: nil)
        // One actor caused the outage, the other a later interval of it.
        let actors = [Duration.zero, .seconds(1)].map { later in
            OutageActor(outage: outage.id, start: outage.start, interval: outage.start + later, process: process)
        }
        for actor in actors {
            world.service.record { state, _ in [state.accounting.add(actor, on: outage.target, now: actor.start)] }
        }
        let day = Duration.seconds(86400)
        let wall = world.service.clock.real() + day
        let work = PlannedMaintenance(id: "switch", targets: nil, start: wall, length: day, author: "root")
        #expect(world.service.plan(work) == true)
        world.flush()
        try delete()
        world.writer.mark()
        let keys = actors.map(\.key)
        #expect(Set(keys).count == 2)
        #expect(try world.writer.store?.actors(of: keys) == [keys[0]: process, keys[1]: process])
        #expect(try world.writer.store?.resume(bootIdentifier: "boot-1").maintenance == [work])
        #expect(try world.writer.store?.notes(on: [outage.id])[outage.id]?.map(\.text) == ["the plug"])
        #expect(try world.writer.store?.outageStarts(upTo: outage.start, limit: 10).count == 1)
    }
}

extension HistoryWorld {
    /// Returns the starts of the intervals with evidence.
    fileprivate func evidence() throws -> Set<LedgerInstant> {
        let sql = "SELECT start FROM interval WHERE steps IS NOT NULL"
        let starts = try writer.store?.database.read { try Int64.fetchAll($0, sql: sql) } ?? []
        return Set(starts.map { LedgerInstant(nanoseconds: $0) })
    }
}
