import Foundation
import LinuxSupport
import NetworkLab
import Testing

/// `reachability serve` in a namespace, queried over its socket.
final class ServeLab: Sendable {
    let directory: ScratchDirectory
    let uplink: Uplink
    let command: RunningCommand
    /// The places at which the service reports that it listens.
    let places: String
    var socket: String { directory.file("api.sock") }

    private init(_ directory: ScratchDirectory, _ uplink: Uplink, _ command: RunningCommand, _ places: String) {
        (self.directory, self.uplink, self.command, self.places) = (directory, uplink, command, places)
    }

    /// Starts the service, and waits until it listens.
    static func start(
        _ arguments: [String] = [],
        history: String = "none",
        on uplink: Uplink? = nil,
        in directory: ScratchDirectory? = nil,
        environment: [String] = []
    ) async throws -> ServeLab {
        let directory = directory ?? ScratchDirectory()
        let uplink = if let uplink { uplink } else { try await Uplink.make() }
        let socket = directory.file("api.sock")
        let words = ["serve", "--listen", "none", "--socket", socket, "--history", history] + arguments
        let command = try await RunningCommand.start(in: uplink.namespace) {
            try Command.start(words, environment: environment)
        }
        let places = try await command.line()
        #expect(places.hasPrefix("listening at ") && places.hasSuffix(socket))
        return ServeLab(directory, uplink, command, places)
    }

    /// Requests a path, and returns the body.
    func get(_ path: String) async throws -> String { try await Self.get(path, at: socket) }

    /// Requests a path from the service at a socket, and returns the body.
    static func get(_ path: String, at socket: String) async throws -> String {
        let text = try await send("GET", path, at: socket)
        return text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }

    /// Sends a request to the service at a socket, and returns the complete response.
    static func send(_ method: String, _ path: String, at socket: String) async throws -> String {
        try await LabThread.detached {
            let length = method == "GET" ? "" : "Content-Length: 0\r\n"
            let request = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(length)Connection: close\r\n\r\n"
            let bytes = try LocalSocket.exchange(
                Array(request.utf8),
                with: socket,
                limit: 1 << 24,
                patience: .seconds(60)
            )
            let text = String(decoding: bytes, as: UTF8.self)
            try checkLength(of: text, path)
            return text
        }
    }

    /// - Throws: An error if a response is shorter than its Content-Length.
    private static func checkLength(of response: String, _ path: String) throws {
        guard let end = response.firstRange(of: "\r\n\r\n"),
            let field = response[..<end.lowerBound].firstMatch(of: #/Content-Length: ([0-9]+)/#),
            let length = Int(field.1)
        else { return }
        let count = response[end.upperBound...].utf8.count
        if count < length { throw LabError("\(path): \(count) of \(length) bytes arrived") }
    }

    func object(_ path: String) async throws -> [String: any Sendable] {
        let object = try JSONSerialization.jsonObject(with: Data(try await get(path).utf8))
        return try #require(object as? [String: any Sendable])
    }

    func outages() async throws -> [ServedOutage] { try await Self.outages(at: socket) }

    static func outages(at socket: String) async throws -> [ServedOutage] {
        struct List: Decodable { let items: [ServedOutage] }
        let text = try await get("/v1/outages?limit=1000", at: socket)
        return try JSONDecoder().decode(List.self, from: Data(text.utf8)).items
    }

    /// Ends the service with a signal, and returns its exit status.
    func end(_ signal: CInt = SIGTERM) async throws -> CInt {
        try await command.result(after: signal).status
    }
}

/// An outage in the service's JSON.
struct ServedOutage: Decodable, Sendable {
    let id: String
    let target: String
    let attribution: String
    let cause: String?
    let reason: String?
    let start: String
    let end: String?
    let ending: String?
    let durationMilliseconds: Int64
    let durationNanoseconds: Int64
    let uncertaintyMilliseconds: Int64
}
