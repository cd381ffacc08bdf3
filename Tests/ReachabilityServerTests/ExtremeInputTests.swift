import Foundation
import GRDB
import KernelLab
import LinuxSupport
import NIOHTTP1
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityLedger
import TestSupport
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// Extreme numbers and times in requests and in the history. No request may cause an internal error.
@Suite struct ExtremeInputTests {
    private static let paths = [
        "/v1/status", "/v1/targets", "/v1/targets/internet", "/v1/targets/internet/intervals",
        "/v1/targets/internet/availability", "/v1/targets/internet/checks", "/v1/outages", "/v1/outages/latest",
        "/v1/outages/latest/report", "/v1/availability", "/v1/why/internet", "/v1/maintenance", "/v1/events",
        "/v1/config", "/metrics", "/probe", "/readyz", "/", "/outages", "/availability", "/targets/internet",
        "/outages/latest", "/service",
    ]
    private static let names = ["from", "to", "window", "after", "limit", "wait", "target"]

    @Test func `no text in any parameter causes an internal error`() throws {
        let world = try APIWorld()
        world.lose(for: .seconds(3))
        for path in Self.paths {
            for name in Self.names {
                for text in ExtremeValues.texts {
                    let status = try world.answer("\(path)?\(name)=\(text.percentEncoded)").status.code
                    #expect(200..<500 ~= status, "\(path)?\(name)=\(text)")
                }
            }
        }
        for from in ExtremeValues.times {
            for to in ExtremeValues.times {
                for path in ["/v1/availability", "/v1/outages", "/v1/targets/internet/intervals"] {
                    let query = "from=\(from.percentEncoded)&to=\(to.percentEncoded)"
                    #expect(try world.answer("\(path)?\(query)").status.code < 500)
                }
            }
        }
    }

    @Test func `a window from the start of the calendar contains all outages`() throws {
        let world = try APIWorld()
        world.lose(for: .seconds(3))
        #expect(try world.items("/v1/outages?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z").count == 1)
        let item = try #require(try world.items("/v1/availability?from=0001-01-01T00:00:00Z").first)
        let seconds = try #require(item["seconds"] as? [String: Any])
        #expect(seconds["us"] as? Double == 3)
        #expect(try world.answer("/v1/availability?window=106752d").status == .badRequest)
    }

    @Test func `no time in an announcement causes an internal error`() throws {
        let world = try APIWorld()
        for from in ExtremeValues.texts {
            for length in ExtremeValues.texts {
                var object = JSONObject()
                object.add("from", from)
                object.add("for", length)
                let body = String(decoding: object.bytes, as: UTF8.self)
                let status = try world.answer("/v1/maintenance/a", .PUT, way: .local(user: 0), body: body).status.code
                #expect(200..<500 ~= status)
            }
        }
        #expect(try world.answer("/v1/maintenance").status == .ok)
    }

    @Test(arguments: ExtremeValues.times)
    func `a service runs with any wall clock`(text: String) throws {
        let real = try #require(Timestamp.real(of: text))
        let world = try APIWorld(real: real)
        world.lose(for: .seconds(3))
        let outage = try #require(try world.items("/v1/outages").first)
        #expect(outage["durationMilliseconds"] as? Int == 3000)
        for path in Self.paths { #expect(try world.answer(path).status.code < 500, "\(path)") }
    }

    @Test func `no number in any column of the history causes an internal error`() throws {
        let directory = try #require(FileManager.default.temporaryDirectory.path as String?) + "/\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let whole = directory + "/whole"
        let columns = try Self.makeHistory(whole)
        #expect(columns.count > 20)
        for (index, column) in columns.enumerated() {
            for number in ExtremeValues.integers {
                let file = directory + "/\(index)"
                try FileManager.default.copyItem(atPath: whole, toPath: file)
                do {
                    let queue = try DatabaseQueue(path: file)
                    try? queue.write { db in
                        // In a unique column, one changed row is enough.
                        try db.execute(sql: "PRAGMA ignore_check_constraints = 1")
                        try db.execute(sql: "UPDATE OR IGNORE \(column.table) SET \"\(column.name)\" = \(number)")
                    }
                    try queue.close()
                }
                try Self.visit(file, "\(column) = \(number)")
                for end in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: file + end) }
            }
        }
    }

    private struct Column { let table, name: String }

    /// Creates a history with outages, checks, notes and old days. Returns its columns with numbers.
    private static func makeHistory(_ file: String) throws -> [Column] {
        let world = try DamagedWorld(file)
        for _ in 0..<3 { world.lose() }
        world.stop()
        let queue = try DatabaseQueue(path: file)
        defer { try? queue.close() }
        let columns = try queue.write { db in
            let target = try Int64.fetchOne(db, sql: "SELECT id FROM target")
            let start = try Int64.fetchOne(db, sql: "SELECT max(start) FROM interval") ?? 0
            try db.execute(
                sql: "INSERT INTO checks VALUES (?, ?, ?, 1, '3;1000;2000;timeout=1;3=2')",
                arguments: [target, 300_000_000_000, start]
            )
            try db.execute(sql: "INSERT INTO day VALUES (?, ?, 'us', 5)", arguments: [target, start])
            let tables = try String.fetchAll(
                db,
                sql:
                    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'grdb%' AND name NOT LIKE 'sqlite%'"
            )
            return try tables.flatMap { table in
                try db.columns(in: table).filter { $0.type == "INTEGER" }.map { Column(table: table, name: $0.name) }
            }
        }
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        return columns
    }

    private static func visit(_ file: String, _ what: String) throws {
        let world = try DamagedWorld(file)
        defer { world.stop() }
        world.lose()
        world.writer.mark()
        for path in paths {
            #expect(try world.answer(path).status.code <= 503, "\(path) with \(what)")
        }
        for incident in (try? world.writer.store?.incidents()) ?? [] { #expect(!incident.id.isEmpty) }
    }
}

/// A service with a history on disk.
private final class DamagedWorld {
    private let kernel = FakeKernel()
    private let manager: NetworkReachabilityManager
    private let service: MonitoringService
    let writer: HistoryWriter
    private let api: API

    init(_ file: String) throws {
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        kernel.addRoute("default", via: "192.0.2.1")
        manager = try NetworkReachabilityManager(kernel: kernel)
        let clock = kernel.clock
        writer = HistoryWriter(file)
        service = MonitoringService(
            clock: ServiceClock(
                monitor: clock,
                real: { .seconds(1_700_000_000) + clock.boot },
                bootIdentifier: "boot"
            ),
            resume: writer.resume(bootIdentifier: "boot")
        )
        writer.follow(service)
        service.insert("internet", manager)
        api = API(service, history: writer, version: "1") { WebStatistics() }
        flush()
    }

    func flush() {
        manager.record.monitor.queue.sync {}
        service.flush()
        writer.flush()
    }

    func lose() {
        for isThere in [false, true] {
            kernel.setCarrier("eth0", isThere)
            flush()
            kernel.clock.advance(by: .seconds(2))
        }
    }

    func stop() { writer.stop(at: service.snapshot.now) }

    func answer(_ target: String) throws -> WebAnswer {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
        return api.router.answer(to: try WebRequest(head, body: [], way: .local(user: nil)))
    }
}
