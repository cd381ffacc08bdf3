import Foundation
import GRDB
import LinuxSupport
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityService

/// A history that cannot be written. Monitoring continues.
@Suite struct HistoryErrorTests {
    private let directory = HistoryDirectory()

    @Test func `a full disk is reported, and pending events are written later`() throws {
        let world = try HistoryWorld(directory, runningFor: .seconds(1))
        try limit(world, to: "(SELECT page_count FROM pragma_page_count)")
        for turn in 0..<400 {
            world.advance(.milliseconds(10))
            world.play(turn % 2 == 1)
        }
        world.flush()
        #expect(world.writer.status.fault?.kind == .full)
        #expect(world.writer.status.pending > 0)
        #expect(world.service.snapshot.accounting.accounts["internet"]?.outages.count == 200)
        try limit(world, to: "1073741823")
        world.flush()
        #expect(world.writer.status.fault == nil)
        #expect(world.writer.status.pending == 0)
        #expect(world.writer.status.lost == 0)
        #expect(try world.intervals().count == 401)
        #expect(world.log.lines.count == 2)
    }

    private func limit(_ world: HistoryWorld, to pages: String) throws {
        try world.writer.store?.database.writeWithoutTransaction { db in
            let count = pages.hasPrefix("(") ? try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0 : Int(pages) ?? 0
            _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(count)")
        }
    }

    @Test func `a missing directory is reported and used when it exists`() throws {
        let world = try HistoryWorld(directory)
        try FileManager.default.removeItem(atPath: directory.path)
        world.start()
        world.setCarrier(false)
        #expect(world.writer.status.fault?.kind == .denied)
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
        world.advance(.seconds(1))
        world.flush()
        #expect(world.writer.status.fault == nil)
        #expect(try world.texts().last == "us.link and goes on")
    }

    @Test func `a damaged file is set aside, and a new one begun`() throws {
        _ = FileManager.default.createFile(atPath: directory.file, contents: Data(count: 5000))
        let world = try HistoryWorld(directory)
        world.start()
        world.setCarrier(false)
        #expect(world.writer.status.fault == nil)
        #expect(try world.texts().last == "us.link and goes on")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        let kept = try #require(names.first { $0.hasPrefix("history.sqlite.corrupt-") })
        let renamed = "it was renamed to \(directory.path)/\(kept), and a new one was created"
        #expect(world.log.lines == ["warning: the history \(directory.file) is damaged: \(renamed)"])
    }

    /// A path that was given by mistake.
    @Test func `a file that is not a database is refused and not changed`() throws {
        let before = Data("root:x:0:0:root:/root:/bin/bash\n".utf8) + Data(repeating: 7, count: 5000)
        try before.write(to: URL(filePath: directory.file))
        let world = try HistoryWorld(directory)
        world.start()
        world.setCarrier(false)
        #expect(world.writer.status.fault?.kind == .foreign)
        world.stop()
        #expect(try Data(contentsOf: URL(filePath: directory.file)) == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(!names.contains { $0.contains("corrupt") })
    }

    @Test func `a file without some of its tables is refused and not changed`() throws {
        try HistoryStore(directory.file).close()
        let queue = try DatabaseQueue(path: directory.file)
        try queue.write { try $0.execute(sql: "DROP TABLE interval; DROP TABLE run; CREATE TABLE run (id)") }
        try queue.close()
        let error = #expect(throws: HistoryError.self) { try HistoryStore(directory.file) }
        #expect(error?.kind == .foreign)
    }

    @Test func `a file with internal damage is renamed, regardless of the end of the last run`() throws {
        for isKilled in [true, false] {
            let directory = HistoryDirectory()
            let world = try HistoryWorld(directory)
            world.start()
            for turn in 0..<200 {
                world.advance(.seconds(1))
                world.setCarrier(turn % 2 == 1)
            }
            if isKilled { world.kill() } else { world.stop() }
            // The content of the write-ahead log would hide the damage.
            let queue = try DatabaseQueue(path: directory.file)
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try queue.close()
            let file = URL(filePath: directory.file)
            var data = try Data(contentsOf: file)
            for page in stride(from: 4096, to: data.count, by: 4096) {
                let end = min(page + 4096, data.count)
                data.replaceSubrange(page..<end, with: repeatElement(7, count: end - page))
            }
            try data.write(to: file)
            world.start()
            world.advance(.seconds(1))
            world.setCarrier(false, for: .seconds(1))
            world.flush()
            #expect(world.writer.status.fault == nil)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(names.contains { $0.hasPrefix("history.sqlite.corrupt-") }, "\(isKilled)")
        }
    }

    @Test func `a file of a later version or another program is not changed`() throws {
        for isLater in [true, false] {
            let directory = HistoryDirectory()
            if isLater { try HistoryStore(directory.file).close() }
            let queue = try DatabaseQueue(path: directory.file)
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE later (a)")
                if isLater { try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
            }
            try queue.close()
            let before = try Data(contentsOf: URL(filePath: directory.file))
            let world = try HistoryWorld(directory)
            world.start()
            world.setCarrier(false)
            #expect(world.writer.status.fault?.kind == .foreign)
            #expect(world.service.snapshot.accounting.accounts["internet"]?.ledger.outage != nil)
            world.stop()
            #expect(try Data(contentsOf: URL(filePath: directory.file)) == before)
        }
    }

    @Test func `a file that another service uses is reported as locked`() throws {
        let other = try HistoryStore(directory.file)
        let world = try HistoryWorld(directory)
        world.start()
        world.setCarrier(false)
        #expect(world.writer.status.fault?.kind == .locked)
        other.close()
        withExtendedLifetime(other) {}
    }

    @Test func `the file is accessible only to its owner`() throws {
        let world = try HistoryWorld(directory)
        world.start()
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
}
