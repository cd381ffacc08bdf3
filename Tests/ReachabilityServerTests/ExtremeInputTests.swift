import Foundation
import GRDB
import LinuxSupport
import ReachabilityLedger
import ServiceLab
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
        "/outages/latest", "/service", "/v1/statement", "/statement", "/outages.csv", "/availability.csv", "/network",
        "/status", "/status/feed", "/badge/internet.svg",
    ]
    private static let names = [
        "from", "to", "window", "after", "limit", "wait", "target", "state", "cause", "attribution", "month", "party",
        "status",
    ]

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
                let status = try world.answer("/v1/maintenance/a", .PUT, peer: .local(user: 0), body: body).status.code
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
        let whole = HistoryDirectory()
        let columns = try Self.makeHistory(whole)
        #expect(columns.count > 20)
        for column in columns {
            for number in ExtremeValues.integers {
                let directory = HistoryDirectory()
                try FileManager.default.copyItem(atPath: whole.file, toPath: directory.file)
                let queue = try DatabaseQueue(path: directory.file)
                try? queue.write { db in
                    // In a unique column, one changed row is enough.
                    try db.execute(sql: "PRAGMA ignore_check_constraints = 1")
                    try db.execute(sql: "UPDATE OR IGNORE \(column.table) SET \"\(column.name)\" = \(number)")
                }
                try queue.close()
                try Self.visit(directory, "\(column) = \(number)")
            }
        }
    }

    private struct Column { let table, name: String }

    /// Creates a history with outages, checks, notes and old days. Returns its columns with numbers.
    private static func makeHistory(_ directory: HistoryDirectory) throws -> [Column] {
        let world = try HistoryWorld(directory)
        world.start()
        for _ in 0..<3 { lose(world) }
        world.stop()
        let queue = try DatabaseQueue(path: directory.file)
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

    /// Causes an outage of 2 s.
    private static func lose(_ world: HistoryWorld) {
        for isThere in [false, true] {
            world.setCarrier(isThere)
            world.advance(.seconds(2))
        }
    }

    private static func visit(_ directory: HistoryDirectory, _ what: String) throws {
        let world = try HistoryWorld(directory)
        world.start()
        defer { world.stop() }
        lose(world)
        world.writer.mark()
        let api = API(world.service, history: world.writer, version: "1") { WebStatistics() }
        for path in paths {
            #expect(try api.answer(path).status.code <= 503, "\(path) with \(what)")
        }
        for incident in (try? world.writer.store?.incidents()) ?? [] { #expect(!incident.id.isEmpty) }
    }
}
