import Foundation
import GRDB
import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityService
import TestSupport
import Testing

@testable import ReachabilityFleetHub

/// The history of a hub in a file that is damaged, of another program, or not accessible.
@Suite struct DamagedStoreTests {
    private let directory: ScratchDirectory
    private var file: String { directory.file("hub.sqlite") }

    init() throws {
        directory = try ScratchDirectory()
        let store = try HubStore(directory.file("hub.sqlite"))
        var hub = Hub()
        hub.brokerConnected(at: at(0))
        for number in 0..<300 {
            _ = hub.take(.online("d\(number)", "a", 0))
            _ = hub.take(.event("d\(number)", "a", 5, .outage(outage("o\(number)", 1, 4)), number: 1))
        }
        var changes = HubChanges()
        changes.devices = Array(hub.devices.values)
        for incident in hub.book.incidents { changes.add(incident, incident.devices) }
        try store.save(changes)
        store.close()
        // A log would hide the damage.
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: file)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file)) }

    /// Opens the file, uses everything, and returns the new name of a file that was renamed.
    private func use() throws -> String? {
        let log = RecordingLog()
        let store = try HubStore(file)
        let writer = try HubWriter(store, clock: { at(10) }, logger: log.logger)
        for incident in try store.incidents(IncidentQuery(limit: 1000)) { _ = try store.incident(incident.id) }
        _ = (try store.notified(), try store.age())
        let retention = HubRetention(store, keep: nil) { at(200) }
        retention.begin()
        retention.stop()
        writer.take([.online("new", "a", 9)])
        writer.flush()
        let devices = writer.hub.devices
        #expect(try writer.fault == nil && devices[place("new")] != nil)
        writer.stop()
        let damaged = store.database.damaged
        #expect((log.lines.first { $0.contains("was renamed to") } != nil) == (damaged != nil))
        return damaged
    }

    @Test func `a damaged file is renamed, and a new one is created`() throws {
        let whole = try bytes()
        var variants: [(name: String, bytes: Data)] = [("zeros", Data(count: whole.count))]
        for page in 0..<whole.count / 4096 {
            var data = whole
            let start = page == 0 ? 100 : page * 4096
            data.replaceSubrange(start..<(page + 1) * 4096, with: repeatElement(0xa5, count: (page + 1) * 4096 - start))
            variants.append(("page \(page)", data))
        }
        for length in [100, 4096, 5000, whole.count / 2, whole.count - 4096] {
            variants.append(("\(length) bytes", whole.prefix(length)))
        }
        var data = whole
        data.replaceSubrange(0..<40, with: repeatElement(7, count: 40))
        variants.append(("magic", data))
        for (name, data) in variants {
            try data.write(to: URL(fileURLWithPath: file))
            let renamed = try #require(try use(), "\(name)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: renamed)) == data, "\(name)")
            for suffix in ["", "-wal", "-shm"] { OwnFile.remove(file + suffix) }
        }
    }

    @Test(arguments: [true, false])
    func `a file that is damaged or deleted while the hub runs is replaced`(isDeleted: Bool) throws {
        let store = try HubStore(file)
        let writer = try HubWriter(store, clock: { at(10) })
        writer.flush()
        if isDeleted {
            OwnFile.remove(file)
        } else {
            // The first page shows whose file it is.
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
            try handle.seek(toOffset: 4096)
            try handle.write(contentsOf: Data(repeating: 0xa5, count: try bytes().count - 4096))
            try handle.close()
            try store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA shrink_memory") }
        }
        writer.take([.event("new", "a", 9, .outage(outage("o", 6, 8)), number: 1)])
        // The first attempt finds the damage.
        writer.flush()
        writer.flush()
        #expect(writer.fault == nil)
        writer.stop()
        let contents = try HubStore(file).contents()
        #expect(contents.devices.count == 301 && contents.damaged == 0)
        #expect(contents.incidents == writer.hub.book.incidents)
    }

    @Test(arguments: [
        "DROP TABLE part", "ALTER TABLE incident RENAME TO other", "ALTER TABLE device RENAME COLUMN record TO other",
        "DROP TABLE device; CREATE TABLE device (site, device, record); INSERT INTO device VALUES (NULL, 1, x'ff')",
        "DROP TABLE age; DELETE FROM grdb_migrations WHERE identifier <> '1'",
    ])
    func `a file with other tables is refused`(sql: String) throws {
        try execute(sql)
        let error = #expect(throws: HistoryError.self) { try HubStore(file) }
        let hint = "; move it away, or name another file with --history"
        #expect(error?.kind == .foreign && error?.text.hasSuffix(hint) == true)
    }

    @Test func `a damaged record is left out`() throws {
        try execute(
            """
            UPDATE device SET record = '{' WHERE device = 'd1';
            UPDATE device SET record = '{"schema":1,"outages":7}' WHERE device = 'd2';
            UPDATE part SET record = '' WHERE device IN ('d1', 'd2', 'd3');
            """
        )
        let store = try HubStore(file)
        let contents = try store.contents()
        #expect(contents.devices.count == 298 && contents.damaged == 5)
        store.close()
        #expect(try use() == nil)
    }

    @Test(arguments: [
        Data("root:x:0:0:root:/root:/bin/bash\n".utf8), Data(repeating: 7, count: 8192), Data("x\n".utf8),
    ])
    func `a file of another program is refused and not changed`(data: Data) throws {
        try data.write(to: URL(fileURLWithPath: file))
        let error = #expect(throws: HistoryError.self) { try HubStore(file) }
        #expect(error?.kind == .foreign && error?.text.hasPrefix("cannot use the history \(file): ") == true)
        #expect(try bytes() == data)
    }

    @Test func `a place that cannot be used is refused`() throws {
        try FileManager.default.createDirectory(atPath: directory.file("own"), withIntermediateDirectories: false)
        for path in ["/proc/hub.sqlite", directory.file("missing/hub.sqlite"), directory.file("own")] {
            let error = #expect(throws: HistoryError.self) { try HubStore(path) }
            #expect(error?.text.hasPrefix("cannot use the history \(path): ") == true, "\(error?.text ?? "")")
        }
    }
}
