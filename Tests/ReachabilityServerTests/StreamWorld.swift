import Foundation
import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityServer

/// The interface over a fake kernel, served at a socket of its own and at the loopback.
final class StreamWorld: Sendable {
    let directory = "/tmp/stream-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let world: APIWorld
    let server: WebServer
    var path: String { directory + "/s" }

    init(_ limits: WebLimits = WebLimits(), targets: [String] = ["internet"]) async throws {
        mkdir(directory, 0o700)
        world = try APIWorld(targets: targets)
        let api = world.api
        server = WebServer(limits: limits) { request, done in done(api.router.answer(to: request)) }
        try await server.listen(at: path, mode: 0o600)
    }

    /// The network goes, or comes back.
    func setCarrier(_ isUp: Bool) {
        world.kernel.setCarrier("eth0", isUp)
        world.flush()
    }

    func open(after position: String? = nil, isReading: Bool = true) throws -> StreamReader {
        let header = position.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        return try StreamReader(
            path,
            "GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n",
            isReading: isReading
        )
    }

    /// Waits until so many clients listen.
    func waitForListeners(_ count: Int) async throws {
        #expect(try await eventually { self.world.api.feed.count == count })
    }

    func stop() async {
        await server.stop()
        try? FileManager.default.removeItem(atPath: directory)
    }
}

/// A client that reads a stream on a thread of its own, as it comes.
final class StreamReader: Sendable {
    struct Event: Sendable {
        var id = ""
        var name = ""
        var data = ""

        var number: UInt64? { id.split(separator: ".").last.flatMap { UInt64($0) } }
    }

    private let descriptor: Descriptor
    private let received = Locked<(bytes: [UInt8], hasEnded: Bool)>(([], false))

    init(_ path: String, _ request: String, isReading: Bool) throws {
        descriptor = try LocalSocket.connect(to: path)
        let bytes = Array(request.utf8)
        #expect(Glibc.write(descriptor.number, bytes, bytes.count) == bytes.count)
        if isReading { read() }
    }

    /// Begins to read.
    func read() {
        Thread.detachNewThread { [self] in
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            // It keeps the descriptor open: its number is nobody else's before this ends.
            while case let count = Glibc.read(descriptor.number, &chunk, chunk.count), count > 0 {
                received.withLock { $0.bytes += chunk[..<count] }
            }
            received.withLock { $0.hasEnded = true }
        }
    }

    /// Goes away; whoever reads ends.
    func close() {
        shutdown(descriptor.number, CInt(SHUT_RDWR))
    }

    var hasEnded: Bool { received.withLock { $0.hasEnded } }

    /// Whether the last chunk came, which says that the answer is whole.
    var isWhole: Bool { received.withLock { $0.bytes.suffix(5).elementsEqual("0\r\n\r\n".utf8) } }

    /// What has come, without the frames of chunks.
    var text: String {
        let whole = String(decoding: received.withLock { $0.bytes }, as: UTF8.self)
        return whole.replacing("\r\n", with: "\n").replacing(#/\n[0-9a-f]+\n/#) { _ in "" }
    }

    /// The events that have come whole.
    var events: [Event] {
        let blocks = text.split(separator: "\n\n", omittingEmptySubsequences: true)
        return blocks.compactMap { block in
            var event = Event()
            for line in block.split(separator: "\n") {
                if let value = line.wholeMatch(of: #/id: (.*)/#) { event.id = String(value.1) }
                if let value = line.wholeMatch(of: #/event: (.*)/#) { event.name = String(value.1) }
                if let value = line.wholeMatch(of: #/data: (.*)/#) { event.data = String(value.1) }
            }
            return event.data.isEmpty ? nil : event
        }
    }

    /// Waits until so many events have come, and returns them all.
    func events(_ count: Int) async throws -> [Event] {
        #expect(try await eventually { self.events.count >= count }, "\(text)")
        return events
    }

    func waitForEnd() async throws {
        #expect(try await eventually { self.hasEnded })
    }
}
