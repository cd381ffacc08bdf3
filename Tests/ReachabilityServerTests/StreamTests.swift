import Foundation
import LinuxSupport
import NIOCore
import NetworkLab
import Testing

@testable import ReachabilityServer

/// The event stream.
@Suite struct StreamTests {
    @Test func `the stream begins with a snapshot, followed by an event for each change`() async throws {
        let world = try await StreamWorld()
        let reader = try world.open()
        let snapshot = try #require(try await reader.events(1).first)
        #expect(snapshot.name == "snapshot")
        #expect(snapshot.data.contains("\"state\":\"up\""))
        #expect(reader.text.contains("text/event-stream"))
        // Without this field, nginx buffers the stream.
        #expect(reader.text.contains("X-Accel-Buffering: no"))
        world.setCarrier(false)
        await world.world.kernel.clock.advance(by: .seconds(4))
        world.setCarrier(true)
        var events = try await reader.events(7)
        while !events.contains(where: { $0.name == "outageEnded" }) {
            events = try await reader.events(events.count + 1)
        }
        let numbers = events.compactMap(\.number)
        #expect(numbers == (0..<UInt64(numbers.count)).map { numbers[0] + $0 })
        // The time of the evidence is not deterministic.
        events.removeAll { $0.name == "explained" }
        let names = [
            "intervalClosed", "intervalOpened", "outageBegan", "intervalClosed", "intervalOpened", "outageEnded",
        ]
        #expect(events.dropFirst().map(\.name) == names)
        let ended = try JSONSerialization.jsonObject(with: Data(events[6].data.utf8)) as? [String: Any]
        let outage = ended?["outage"] as? [String: Any]
        #expect(outage?["durationMilliseconds"] as? Int == 4000)
        #expect(ended?["id"] as? String == events[6].id)
        reader.close()
        try await world.waitForListeners(0)
        await world.stop()
    }

    @Test func `a client that reconnects receives each event exactly once`() async throws {
        let world = try await StreamWorld()
        let first = try world.open()
        _ = try await first.events(1)
        world.setCarrier(false)
        let known = try #require(try await first.events(4).dropLast().last)
        first.close()
        world.setCarrier(true)
        world.setCarrier(false)
        let second = try world.open(after: known.id)
        world.setCarrier(true)
        let numbers = try await second.events(10).compactMap(\.number)
        let last = try #require(known.number)
        #expect(numbers == Array((last + 1)...(last + 10)))
        #expect(!second.events.contains { $0.name == "snapshot" })
        let now = try #require(second.events.last)
        let third = try world.open(after: now.id)
        try await world.waitForListeners(2)
        world.setCarrier(false)
        #expect(try await third.events(3).first?.number == now.number.map { $0 + 1 })
        await world.stop()
    }

    @Test(arguments: ["another.5", "nonsense", "", "99", "EPOCH.0", "EPOCH.18446744073709551615"])
    func `an unknown position leads to a gap and a snapshot`(place: String) async throws {
        let world = try await StreamWorld()
        let reader = try world.open(after: place.replacing("EPOCH", with: world.world.api.feed.epoch))
        let events = try await reader.events(2)
        #expect(events.map(\.name) == ["gap", "snapshot"])
        #expect(events[0].id == events[1].id)
        await world.stop()
    }

    @Test func `a client that does not read is disconnected and can continue`() async throws {
        var limits = WebLimits.patient
        limits.streamBytes = 256 << 10
        let world = try await StreamWorld(limits)
        let slow = try world.open(isReading: false)
        let quick = try world.open()
        try await world.waitForListeners(2)
        var changes = 0
        while world.server.statistics.slowStreams == 0, changes < 10_000 {
            world.setCarrier(changes % 2 == 1)
            changes += 1
            // The fast client gets time to read.
            if changes % 32 == 0 { _ = try await quick.events(1 + 3 * changes) }
        }
        #expect(world.server.statistics.slowStreams == 1)
        try await world.waitForListeners(1)
        #expect(!quick.hasEnded)
        slow.read()
        try await slow.waitForEnd()
        let last = try #require(slow.events.last)
        let again = try world.open(after: last.id)
        _ = try await quick.events(1 + 3 * changes)
        let rest = try await again.events(quick.events.count - slow.events.count)
        #expect((slow.events + rest).map(\.id) == quick.events.map(\.id))
        await world.stop()
    }

    @Test func `a thousand failing targets disconnect no client and lose no event`()
        async throws
    {
        let world = try await StreamWorld(targets: (0..<1000).map { "target-\($0)" })
        let reader = try world.open()
        let snapshot = try #require(try await reader.events(1).first)
        world.setCarrier(false)
        var events = try await reader.events(3001)
        while events.count(where: { $0.name == "outageBegan" }) < 1000 {
            events = try await reader.events(events.count + 1)
        }
        #expect(world.server.statistics.slowStreams == 0 && !reader.hasEnded)
        let again = try world.open(after: snapshot.id)
        let missed = try await again.events(events.count - 1)
        #expect(missed.map(\.id) == events.dropFirst().map(\.id))
        await world.stop()
    }

    @Test func `a heartbeat is sent every 15 s to connected clients`() async throws {
        let world = try await StreamWorld()
        let reader = try world.open()
        try await world.waitForListeners(1)
        _ = try await reader.events(1)
        await world.world.kernel.clock.advance(by: .seconds(14))
        #expect(!reader.text.contains(": alive"))
        for count in 1...2 {
            await world.world.kernel.clock.advance(by: .seconds(15))
            #expect(try await eventually { reader.text.ranges(of: ": alive").count == count })
        }
        await world.stop()
    }

    @Test func `streams above the limit are answered with 503 and Retry-After`() async throws {
        var limits = WebLimits.patient
        limits.streams = 2
        let world = try await StreamWorld(limits)
        let readers = try [world.open(), world.open()]
        try await world.waitForListeners(2)
        let third = try world.open()
        #expect(try await eventually { third.text.contains("HTTP/1.1 503") })
        #expect(third.text.contains("Retry-After: 5"))
        #expect(world.server.statistics.streams == 2)
        readers[0].close()
        try await world.waitForListeners(1)
        _ = try await world.open().events(1)
        await world.stop()
        #expect(limits.effectiveStreams == 2)
    }

    @Test func `stopping the service ends 100 streams cleanly`() async throws {
        let world = try await StreamWorld()
        let readers = try (0..<100).map { _ in try world.open() }
        try await world.waitForListeners(100)
        world.setCarrier(false)
        for reader in readers { #expect(try await reader.events(4).count == 4) }
        // Events continue while the server stops.
        async let changes: Void = {
            for count in 0..<50 { world.setCarrier(count % 2 == 0) }
        }()
        await world.stop()
        await changes
        for reader in readers {
            try await reader.waitForEnd()
            #expect(reader.isWhole)
        }
        #expect(world.server.statistics.streams == 0)
        #expect(world.world.api.feed.count == 0)
    }

    @Test func `the events of the stream are available as pages`() async throws {
        let world = try await StreamWorld()
        // It is not deterministic whether the first event is kept.
        let first = try #require(try await world.open().events(1).first?.id)
        let reader = try world.open(after: first)
        for count in 0..<20 { world.setCarrier(count % 2 == 1) }
        let streamed = try await reader.events(60)
        for limit in [1, 7, 60, 1000] {
            var (ids, next): ([String], String?) = ([], first)
            while let after = next {
                let page = try world.world.object("/v1/events?limit=\(limit)&after=\(after)")
                ids += (page["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
                next = page["next"] as? String
            }
            #expect(ids == streamed.map(\.id), "\(limit)")
        }
        let lines = try world.world.text("/v1/events?after=\(first)", [("Accept", "application/jsonl")])
        #expect(lines.split(separator: "\n").map(String.init) == streamed.map(\.data))
        let text = try world.world.text("/v1/events", [("Accept", "text/plain")])
        #expect(text.contains("Z outageBegan internet: us.link (noCarrier)\n"))
        #expect(try world.world.items("/v1/events?after=\(streamed[59].id)").isEmpty)
        await world.stop()
    }

    @Test func `events that are not kept are answered with 410`() async throws {
        let world = try APIWorld()
        for after in ["another.5", "\(world.api.feed.epoch).99"] {
            #expect(try world.answer("/v1/events?after=\(after)").status == .gone)
        }
        for after in ["", "x", "5.", "a.b"] {
            #expect(try world.answer("/v1/events?after=\(after)").status == .badRequest)
        }
    }

    @Test func `a ring keeps the latest events and reports missing ones`() {
        var ring = EventRing(after: 7, limit: 8)
        #expect(ring.after(6) == nil)
        #expect(ring.after(7)?.isEmpty == true)
        for number in 8...UInt64(20) { ring.append(.init(number: number, bytes: ByteBuffer(string: "x"))) }
        #expect(ring.after(20)?.isEmpty == true)
        #expect(ring.after(18)?.map(\.number) == [19, 20])
        #expect(ring.after(8) == nil)
        var small = EventRing(after: 0, byteLimit: 10)
        for number in 1...UInt64(20) { small.append(.init(number: number, bytes: ByteBuffer(string: "xxx"))) }
        #expect(small.after(17)?.map(\.number) == [18, 19, 20])
        #expect(small.after(10) == nil)
    }
}

/// Requests that wait for the next event, with `/v1/events?wait=`.
@Suite struct EventWaitTests {
    /// Returns the id of the latest event, and a client that waits for the following one.
    private func waiter(_ world: StreamWorld, wait: String = "30s") async throws -> (String, StreamReader) {
        world.setCarrier(false)
        world.setCarrier(true)
        let last = try #require(try world.world.items("/v1/events?limit=1000").last?["id"] as? String)
        let timers = world.world.kernel.clock.scheduledCount
        let reader = try ask(world, "after=\(last)&wait=\(wait)")
        // The timer is created after the client is registered.
        #expect(
            try await eventually {
                world.world.api.feed.waiterCount == 1 && world.world.kernel.clock.scheduledCount > timers
            }
        )
        return (last, reader)
    }

    private func ask(_ world: StreamWorld, _ query: String, _ method: String = "GET") throws -> StreamReader {
        let request = "\(method) /v1/events?\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        return try StreamReader(world.path, request, isReading: true)
    }

    /// Waits for the complete answer and returns its items.
    private func items(_ reader: StreamReader) async throws -> [[String: Any]] {
        #expect(try await eventually { reader.text.hasSuffix("}") }, "\(reader.text)")
        let body = try #require(reader.text.split(separator: "\n\n", maxSplits: 1).last)
        let object = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        return try #require(object?["items"] as? [[String: Any]])
    }

    @Test func `a wait is answered at once with existing events, otherwise after the next event`() async throws {
        let world = try await StreamWorld()
        let (last, reader) = try await waiter(world)
        #expect(reader.text.isEmpty)
        world.setCarrier(false)
        let first = try #require(try await items(reader).first?["id"] as? String)
        let numbers = [last, first].compactMap { StreamPosition($0)?.number }
        #expect(numbers[1] == numbers[0] + 1)
        #expect(world.world.api.feed.waiterCount == 0)
        #expect(try await !items(ask(world, "after=\(last)&wait=30s")).isEmpty)
        #expect(try await !items(ask(world, "wait=30s")).isEmpty)
        #expect(try await eventually { world.server.statistics.streams == 0 })
        await world.stop()
    }

    @Test func `a wait that times out is answered with an empty list and keeps the connection`() async throws {
        let world = try await StreamWorld()
        let (last, reader) = try await waiter(world, wait: "60s")
        await world.world.kernel.clock.advance(by: .seconds(59))
        #expect(reader.text.isEmpty)
        #expect(world.world.api.feed.waiterCount == 1)
        await world.world.kernel.clock.advance(by: .seconds(1))
        #expect(try await items(reader).isEmpty)
        #expect(reader.text.hasPrefix("HTTP/1.1 200 OK\n"))
        #expect(!reader.hasEnded)
        #expect(world.world.api.feed.waiterCount == 0)
        // HEAD does not wait.
        let head = try ask(world, "after=\(last)&wait=60s", "HEAD")
        #expect(try await eventually { head.text.hasPrefix("HTTP/1.1 200 OK\n") })
        await world.stop()
    }

    @Test func `a disconnected client cancels its wait`() async throws {
        let world = try await StreamWorld()
        let (_, reader) = try await waiter(world)
        #expect(world.server.statistics.streams == 1)
        reader.close()
        #expect(try await eventually { world.world.api.feed.waiterCount == 0 })
        #expect(try await eventually { world.server.statistics.streams == 0 })
        await world.stop()
    }

    @Test func `stopping the service answers waits with an empty list`() async throws {
        let world = try await StreamWorld()
        let (last, first) = try await waiter(world)
        let readers = try [first] + (1..<20).map { _ in try ask(world, "after=\(last)&wait=30s") }
        #expect(try await eventually { world.world.api.feed.waiterCount == 20 })
        await world.stop()
        for reader in readers {
            try await reader.waitForEnd()
            #expect(try await items(reader).isEmpty)
        }
        #expect(world.world.api.feed.waiterCount == 0)
        #expect(world.server.statistics.streams == 0)
    }

    @Test func `waits above the limit are answered with 503 and Retry-After`() async throws {
        var limits = WebLimits.patient
        limits.streams = 1
        let world = try await StreamWorld(limits)
        let (last, _) = try await waiter(world)
        let second = try ask(world, "after=\(last)&wait=30s")
        #expect(try await eventually { second.text.contains("Retry-After: 5") })
        #expect(second.text.hasPrefix("HTTP/1.1 503"))
        // A request without `wait` is answered.
        #expect(try await items(ask(world, "after=\(last)")).isEmpty)
        await world.stop()
    }

    @Test(arguments: ["61s", "1d", "0s", "-1s", "", "30", "x", "%00", "99999999999999999999s"])
    func `an invalid wait is rejected`(wait: String) throws {
        let world = try APIWorld()
        let request = try? world.answer("/v1/events?wait=\(wait)")
        #expect(request?.status ?? .badRequest == .badRequest)
    }

    @Test func `parameters are checked before waiting`() throws {
        let world = try APIWorld()
        #expect(try world.answer("/v1/events?wait=30s&afer=x").status == .badRequest)
        #expect(try world.answer("/v1/events?wait=30s&after=another.5").status == .gone)
    }
}
