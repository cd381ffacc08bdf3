import Foundation
import LinuxSupport
import NetworkLab
import Testing

@testable import ReachabilityServer

/// Who waits for the next event, over `/v1/events?wait=`.
@Suite struct EventWaitTests {
    /// The id of the latest event, and one who waits for what comes after it.
    private func waiter(_ world: StreamWorld, wait: String = "30s") async throws -> (String, StreamReader) {
        world.setCarrier(false)
        world.setCarrier(true)
        let last = try #require(try world.world.items("/v1/events?limit=1000").last?["id"] as? String)
        let timers = world.world.kernel.clock.scheduledCount
        let reader = try ask(world, "after=\(last)&wait=\(wait)")
        // The timer is made after it waits.
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

    /// Waits for the whole answer, and returns its list.
    private func items(_ reader: StreamReader) async throws -> [[String: Any]] {
        #expect(try await eventually { reader.text.hasSuffix("}") }, "\(reader.text)")
        let body = try #require(reader.text.split(separator: "\n\n", maxSplits: 1).last)
        let object = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        return try #require(object?["items"] as? [[String: Any]])
    }

    @Test func `what is there is told at once, and what comes when it comes`() async throws {
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

    @Test func `when the time is up the list is empty, and the connection goes on`() async throws {
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
        // Only the head is not waited for.
        let head = try ask(world, "after=\(last)&wait=60s", "HEAD")
        #expect(try await eventually { head.text.hasPrefix("HTTP/1.1 200 OK\n") })
        await world.stop()
    }

    @Test func `a client that goes away is not waited for any more`() async throws {
        let world = try await StreamWorld()
        let (_, reader) = try await waiter(world)
        #expect(world.server.statistics.streams == 1)
        reader.close()
        #expect(try await eventually { world.world.api.feed.waiterCount == 0 })
        #expect(try await eventually { world.server.statistics.streams == 0 })
        await world.stop()
    }

    @Test func `the end of the service ends the wait with an empty list`() async throws {
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

    @Test func `more than may wait are told to come later`() async throws {
        var limits = WebLimits()
        limits.streams = 1
        let world = try await StreamWorld(limits)
        let (last, _) = try await waiter(world)
        let second = try ask(world, "after=\(last)&wait=30s")
        #expect(try await eventually { second.text.contains("Retry-After: 5") })
        #expect(second.text.hasPrefix("HTTP/1.1 503"))
        // Who does not wait is answered.
        #expect(try await items(ask(world, "after=\(last)")).isEmpty)
        await world.stop()
    }

    @Test(arguments: ["61s", "1d", "0s", "-1s", "", "30", "x", "%00", "99999999999999999999s"])
    func `a wait that makes no sense is refused`(wait: String) throws {
        let world = try APIWorld()
        let request = try? world.answer("/v1/events?wait=\(wait)")
        #expect(request?.status ?? .badRequest == .badRequest)
    }

    @Test func `an unknown parameter is told before anybody waits`() throws {
        let world = try APIWorld()
        #expect(try world.answer("/v1/events?wait=30s&afer=x").status == .badRequest)
        #expect(try world.answer("/v1/events?wait=30s&after=another.5").status == .gone)
    }
}
