import Foundation
import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityServer

/// The API of a service with a fake kernel, served on a Unix socket and on loopback.
final class StreamWorld: Sendable {
    let directory = "/tmp/stream-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let world: APIWorld
    let server: WebServer
    var path: String { directory + "/s" }

    init(_ limits: WebLimits = .patient, targets: [String] = ["internet"]) async throws {
        mkdir(directory, 0o700)
        world = try APIWorld(targets: targets)
        let api = world.api
        server = WebServer(limits: limits) { request, done in done(api.router.answer(to: request)) }
        try await server.listen(at: path, mode: 0o600)
    }

    /// Takes the network down or up.
    func setCarrier(_ isUp: Bool) {
        world.setCarrier(isUp)
    }

    func open(after position: String? = nil, isReading: Bool = true) throws -> StreamReader {
        let header = position.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        return try StreamReader(
            path,
            "GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n",
            isReading: isReading
        )
    }

    /// Waits until a number of clients are connected to the stream.
    func waitForListeners(_ count: Int) async throws {
        #expect(try await eventually { self.world.api.feed.count == count })
    }

    func stop() async {
        await server.stop()
        try? FileManager.default.removeItem(atPath: directory)
    }
}

/// A client that reads a stream on its own thread.
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

    /// Starts to read.
    func read() {
        Thread.detachNewThread { [self] in
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            // The thread keeps the descriptor open, so that its number is not reused before the thread ends.
            while case let count = Glibc.read(descriptor.number, &chunk, chunk.count), count > 0 {
                received.withLock { $0.bytes += chunk[..<count] }
            }
            received.withLock { $0.hasEnded = true }
        }
    }

    /// Disconnects, which ends the reading thread.
    func close() {
        shutdown(descriptor.number, CInt(SHUT_RDWR))
    }

    var hasEnded: Bool { received.withLock { $0.hasEnded } }

    /// A Boolean value that indicates whether the last chunk was received, so that the answer is complete.
    var isWhole: Bool { received.withLock { $0.bytes.suffix(5).elementsEqual("0\r\n\r\n".utf8) } }

    /// The received text without the framing of chunks.
    var text: String {
        let whole = String(decoding: received.withLock { $0.bytes }, as: UTF8.self)
        return whole.replacing("\r\n", with: "\n").replacing(#/\n[0-9a-f]+\n/#) { _ in "" }
    }

    /// The events that were received completely.
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

    /// Waits until a number of events are received, and returns all of them.
    func events(_ count: Int) async throws -> [Event] {
        #expect(try await eventually { self.events.count >= count }, "\(text)")
        return events
    }

    func waitForEnd() async throws {
        #expect(try await eventually { self.hasEnded })
    }
}

extension WebLimits {
    /// The default limits without their timeouts.
    static var patient: WebLimits {
        var limits = WebLimits()
        (limits.requestTime, limits.idleTime, limits.answerTime) = (.seconds(600), .seconds(600), .seconds(600))
        return limits
    }
}
