import Foundation
import GRDB
import KernelLab
import LinuxSupport
import NIOHTTP1
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityLedger
import ServiceLab
import TestSupport
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// Answers that combine memory and the history.
@Suite struct APIHistoryTests {
    /// Consecutive runs of a service on one machine.
    private final class World {
        private let history: HistoryWorld
        /// The file of the history in the directory.
        var file = "history"
        private(set) var run: (service: MonitoringService, writer: HistoryWriter, api: API)?
        var directory: String { history.directory.path }
        var kernel: FakeKernel { history.kernel }

        init() throws {
            history = try HistoryWorld(HistoryDirectory())
        }

        /// Starts a run. A previous one is stopped one minute before.
        ///
        /// - Parameter isWritten: False for a run that writes nothing to the history, after the previous one was stopped.
        func start(targets: [String] = ["a", "b"], isWritten: Bool = true) {
            if let run, isWritten {
                run.writer.stop(at: run.service.snapshot.now)
                kernel.clock.advance(by: .seconds(60))
            }
            history.start(targets: targets, file: file, isWritten: isWritten)
            guard let service = history.service, let writer = history.writer else { return }
            service.setMaintenance([])
            run = (service, writer, API(service, history: writer, version: "1") { WebStatistics() })
            flush()
        }

        func flush() { history.flush() }

        func lose(for duration: Duration) {
            for isThere in [false, true] {
                history.setCarrier(isThere)
                kernel.clock.advance(by: isThere ? .seconds(1) : duration)
            }
        }

        func body(_ target: String, _ accept: String = "*/*", encoding: String = "") throws -> [UInt8] {
            try run?.api.answer(target, .GET, [("Accept", accept), ("Accept-Encoding", encoding)]).body ?? []
        }

        /// Sends a request as root and returns the status.
        func act(_ method: HTTPMethod, _ target: String, _ body: String) throws -> HTTPResponseStatus? {
            try run?.api.answer(target, method, peer: .local(user: 0), body: body).status
        }

        func text(_ path: String) throws -> String { String(decoding: try body(path), as: UTF8.self) }

        /// Returns the items of a list as lines of JSON.
        func lines(_ target: String) throws -> [String] {
            String(decoding: try body(target, "application/jsonl"), as: UTF8.self).split(separator: "\n").map(
                String.init
            )
        }

        func object(_ target: String) throws -> [String: Any] {
            try JSONSerialization.jsonObject(with: Data(try body(target))) as? [String: Any] ?? [:]
        }

        func items(_ target: String) throws -> [[String: Any]] {
            try object(target)["items"] as? [[String: Any]] ?? []
        }

        /// Returns the ids on all pages of a list.
        func ids(_ target: String) throws -> [String] {
            var (ids, next): ([String], String?) = ([], nil)
            repeat {
                let page = try object(target + (next.map { "&after=\($0)" } ?? ""))
                ids += (page["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
                next = page["next"] as? String
            } while next != nil
            return ids
        }
    }

    @Test func `outages of earlier runs are returned like those of this run`() throws {
        let world = try World()
        world.start()
        world.kernel.clock.advance(by: .seconds(1))
        for _ in 0..<5 { world.lose(for: .milliseconds(400)) }
        let before = try world.items("/v1/outages")
        let lines = try world.lines("/v1/outages")
        let explained = try #require(before.first?["evidence"] as? [[String: Any]])
        #expect(explained.compactMap { $0["phase"] as? String } == ["before", "during", "after"])
        world.start()
        #expect(try world.lines("/v1/outages") == lines)
        for _ in 0..<3 { world.lose(for: .milliseconds(40)) }
        let all = try world.ids("/v1/outages?limit=1000")
        #expect(all.count == 16)
        #expect(Set(all).count == 16)
        for limit in [1, 2, 3, 7, 15] {
            #expect(try world.ids("/v1/outages?limit=\(limit)") == all)
            for (query, total) in [("", 16), ("&target=a", 8), ("&attribution=them", 0), ("&state=open", 0)] {
                let page = try world.object("/v1/outages?limit=\(limit)\(query)")
                #expect(page["total"] as? Int == total, "\(query)")
            }
        }
        #expect(try world.ids("/v1/outages?limit=3&target=a").count == 8)
        #expect(try world.ids("/v1/outages?limit=3&attribution=them").isEmpty)
        for id in all { #expect(try world.object("/v1/outages/\(id)")["id"] as? String == id) }
        #expect(try world.object("/v1/outages/latest")["id"] as? String == all[0])
    }

    @Test func `availability includes earlier runs and the gaps between them`() throws {
        let world = try World()
        world.start()
        world.kernel.clock.advance(by: .seconds(10))
        world.lose(for: .seconds(2))
        world.start()
        world.kernel.clock.advance(by: .seconds(7))
        let item = try #require(try world.items("/v1/availability?window=80s&target=a").first)
        let seconds = try #require(item["seconds"] as? [String: Double])
        #expect(seconds == ["up": 18, "us": 2, "upstream": 0, "them": 0, "unknown": 60, "maintenance": 0])
        let states = try world.items("/v1/targets/a/intervals").compactMap { $0["state"] as? String }
        #expect(states == ["up", "unknown", "up", "us", "up"])
        let paged = try world.object("/v1/targets/a/intervals?limit=2")
        let next = try #require(paged["next"] as? String)
        #expect(try world.items("/v1/targets/a/intervals?limit=3&after=\(next)").count == 3)
    }

    @Test func `announced maintenance continues in later runs until its end`() throws {
        let world = try World()
        world.start(targets: ["a"])
        #expect(try world.act(.PUT, "/v1/maintenance/w", #"{"for":"150s","targets":["a"]}"#) == .created)
        #expect(try world.act(.PUT, "/v1/maintenance/x", #"{"for":"1h"}"#) == .created)
        #expect(try world.act(.DELETE, "/v1/maintenance/x", "") == .noContent)
        world.flush()
        world.start(targets: ["a"])
        #expect(try world.items("/v1/maintenance").compactMap { $0["id"] as? String } == ["w"])
        #expect(try world.items("/v1/targets").first?["state"] as? String == "maintenance")
        world.kernel.clock.advance(by: .seconds(100))
        world.start(targets: ["a"])
        #expect(try world.items("/v1/maintenance").isEmpty)
        #expect(try world.items("/v1/targets").first?["state"] as? String == "up")
    }

    @Test func `a short outage without evidence states the reason`() throws {
        let world = try World()
        world.start(targets: ["a"])
        world.lose(for: .milliseconds(2))
        let id = try #require(try world.ids("/v1/outages?limit=10").first)
        let said = "he outage ended before its cause could be queried"
        let paths = ["/v1/outages/\(id)/report", "/outages/\(id)"]
        for path in paths { #expect(try !world.text(path).contains(said), "\(path)") }
        world.start(targets: ["a"])
        try DatabaseQueue(path: world.directory + "/history").write { database in
            try database.execute(sql: "UPDATE interval SET explained = NULL WHERE outage IS NOT NULL")
            #expect(database.changesCount == 1)
        }
        for path in paths { #expect(try world.text(path).contains(said), "\(path)") }
    }

    @Test func `pages and tables include earlier runs`() throws {
        let world = try World()
        world.start(targets: ["a"])
        world.kernel.clock.advance(by: .seconds(10))
        world.lose(for: .seconds(2))
        let id = try #require(try world.ids("/v1/outages?limit=10").first)
        let before = try world.text("/outages/\(id)")
        world.start(targets: ["a"])
        world.kernel.clock.advance(by: .seconds(7))
        let after = try world.text("/outages/\(id)")
        let picture = #/data-part="scale".*?<\/section>/#.dotMatchesNewlines()
        #expect(try picture.firstMatch(in: after)?.0 == picture.firstMatch(in: before)?.0)
        #expect(after.ranges(of: "<li>").count == before.ranges(of: "<li>").count)
        for path in ["/?window=15m", "/targets/a", "/availability?window=1h"] {
            #expect(try world.text(path).contains("this machine 2\u{a0}s"), "\(path)")
        }
        #expect(try world.text("/outages.csv").contains("\(id),a,us,link,2023-11-14T"))
        let days = try world.text("/availability.csv?window=24h").split(separator: "\r\n")
        #expect(days.count == 3 && days.last?.hasPrefix("a,2023-11-14,") == true)
        let cells = days.last?.split(separator: ",").dropFirst(2).compactMap { Double($0) } ?? []
        #expect(cells.dropFirst(1).first == 2)
        #expect(cells.reduce(0, +) == 81_080)
    }

    @Test func `pages include days of which only sums are kept`() throws {
        let world = try World()
        world.start(targets: ["a"])
        world.lose(for: .seconds(2))
        world.start(targets: ["a"])
        let run = try #require(world.run)
        while try run.writer.store?.prune(before: run.service.snapshot.now) == true {}
        #expect(try world.ids("/v1/outages?limit=10").isEmpty)
        for path in ["/?window=7d", "/targets/a", "/availability?window=7d"] {
            #expect(try world.text(path).contains("this machine 2\u{a0}s"), "\(path)")
        }
        #expect(try world.text("/availability").contains("a: 1 of 1 days observed had an outage"))
        #expect(try world.text("/availability.csv?window=7d").contains("a,2023-11-14,"))
        let row = try world.text("/availability.csv?window=7d").split(separator: "\r\n").last {
            $0.hasPrefix("a,2023-11-14,")
        }
        #expect(row?.split(separator: ",")[3] == "2")
        // The outage is also visible in the bars.
        #expect(try world.text("/?window=7d").contains("class=\"s-us\""))
    }

    @Test func `every page shows a fault of the history`() throws {
        let world = try World()
        let paths = ["/", "/targets/a", "/outages", "/availability", "/network", "/service"]
        func notice(_ path: String) throws -> String {
            let page = try world.text(path)
            return page.firstMatch(of: #/<p class="notice" data-part="notice" role="status">(.*?)<\/p>/#).map {
                String($0.1)
            } ?? "?"
        }
        world.start(targets: ["a"])
        for path in paths { #expect(try notice(path) == "", "\(path)") }
        world.file = "missing/history"
        world.start(targets: ["a"])
        for path in paths {
            let text = try notice(path)
            #expect(text.hasPrefix("Cannot use the history \(world.directory)/missing/history: "), "\(path)")
            #expect(text.hasSuffix("events are kept in memory."), "\(path)")
        }
    }

    @Test func `pages of a hundred targets and a year are small`() throws {
        let world = try World()
        let names = (100..<200).map { "target-\($0).example.org" }
        world.start(targets: names)
        let now = try #require(world.run?.service.snapshot.now.nanoseconds)
        world.run?.writer.stop(at: LedgerInstant(nanoseconds: now))
        var generator = SeededGenerator(seed: 1)
        try DatabaseQueue(path: world.directory + "/history").write { database in
            let day: Int64 = 86400 * 1_000_000_000
            let today = now - ((now % day) + day) % day
            for target in try Int64.fetchAll(database, sql: "SELECT id FROM target") {
                for age in 1...365 {
                    var up = day
                    for account in ["us", "upstream", "them"] {
                        let time = Int64.random(in: 0...600_000_000_000, using: &generator)
                        up -= time
                        try database.execute(
                            sql: "INSERT INTO day (target, start, account, time) VALUES (?, ?, ?, ?)",
                            arguments: [target, today - Int64(age) * day, account, time]
                        )
                    }
                    try database.execute(
                        sql: "INSERT INTO day (target, start, account, time) VALUES (?, ?, 'up', ?)",
                        arguments: [target, today - Int64(age) * day, up]
                    )
                }
                try database.execute(sql: "UPDATE target SET settled = ? WHERE id = ?", arguments: [today, target])
            }
        }
        world.start(targets: names)
        for path in ["/?window=365d", "/availability?window=365d", "/outages?window=365d", "/targets/\(names[0])"] {
            let size = try world.body(path, encoding: "gzip").count
            #expect(size < 100_000, "\(path)")
            #expect(size > 1000, "\(path)")
        }
    }

    @Test func `unwritten intervals leave no gap and no overlap`() throws {
        let world = try World()
        world.start(targets: ["a"])
        world.kernel.clock.advance(by: .seconds(10))
        try world.run?.writer.store?.database.write { try $0.execute(sql: "UPDATE run SET mark = mark + 5000000000") }
        // The service is killed and restarted with a full disk.
        world.run?.writer.stop(at: nil)
        world.kernel.clock.advance(by: .seconds(3))
        world.start(targets: ["a"], isWritten: false)
        world.kernel.clock.advance(by: .seconds(2))
        let states = try world.items("/v1/targets/a/intervals").compactMap { $0["state"] as? String }
        #expect(states == ["up", "unknown", "up"])
        let item = try #require(try world.items("/v1/availability?window=15s&target=a").first)
        let seconds = try #require(item["seconds"] as? [String: Double])
        #expect(seconds == ["up": 7, "us": 0, "upstream": 0, "them": 0, "unknown": 8, "maintenance": 0])
    }

    @Test func `notes are available in later runs`() throws {
        let world = try World()
        world.start(targets: ["a"])
        world.lose(for: .seconds(2))
        let id = try #require(try world.ids("/v1/outages?limit=10").first)
        func texts() throws -> [String] {
            let notes = try world.object("/v1/outages/\(id)")["notes"] as? [[String: Any]] ?? []
            #expect(notes.allSatisfy { $0["author"] as? String == "root" })
            return notes.compactMap { $0["text"] as? String }
        }
        #expect(try world.act(.POST, "/v1/outages/\(id)/note", #"{"text":"a plug\nwas pulled"}"#) == .created)
        world.flush()
        #expect(try texts() == ["a plug\nwas pulled"])
        world.start(targets: ["a"])
        #expect(try texts() == ["a plug\nwas pulled"])
        #expect(try world.act(.POST, "/v1/outages/\(id)/note", #"{"text":"by \u202e me"}"#) == .created)
        #expect(try texts() == ["a plug\nwas pulled", "by \u{202e} me"])
        world.flush()
        world.start(targets: ["a"])
        #expect(try texts() == ["a plug\nwas pulled", "by \u{202e} me"])
        // The notes of a deleted outage are deleted.
        world.lose(for: .seconds(1))
        let now = try #require(world.run?.service.snapshot.now)
        while try world.run?.writer.store?.prune(before: now) == true {}
        #expect(try world.run?.writer.store?.notes(on: [id]).isEmpty == true)
    }

    @Test func `a removed target is still available`() throws {
        let world = try World()
        world.start()
        world.lose(for: .seconds(2))
        world.start(targets: ["b"])
        #expect(try world.items("/v1/outages?target=a").count == 1)
        #expect(try world.items("/v1/targets").count == 1)
        #expect(try world.object("/v1/outages?target=c")["status"] as? Int == 404)
    }
}
