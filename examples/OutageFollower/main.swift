import AsyncHTTPClient
import Foundation
import NIOCore

// Prints each outage reported by `reachability serve` when it begins and ends, across lost connections and restarts of the service.
//
//     swift run --package-path examples OutageFollower [http://127.0.0.1:9672]

/// The used keys of an event.
struct Event: Decodable {
    struct Outage: Decodable {
        let attribution: String
        let cause: String?
        let durationMilliseconds: Int
    }

    let event: String
    let time: String
    let target: String?
    let outage: Outage?
}

/// Server-sent events, line by line: an empty line ends an event.
struct EventReader {
    private(set) var lastID: String?
    private var data: [Substring] = []

    /// - Returns: The data of an event if this line ends one, otherwise nil.
    mutating func take(_ line: Substring) -> String? {
        if line.isEmpty {
            defer { data = [] }
            return data.isEmpty ? nil : data.joined(separator: "\n")
        }
        if line.hasPrefix("id: ") { lastID = String(line.dropFirst(4)) }
        if line.hasPrefix("data: ") { data.append(line.dropFirst(6)) }
        return nil
    }
}

/// Writes a line without buffering.
func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func report(_ text: String) {
    guard let event = try? JSONDecoder().decode(Event.self, from: Data(text.utf8)), let target = event.target,
        let outage = event.outage
    else { return }
    let fault = [outage.attribution, outage.cause].compactMap(\.self).joined(separator: ".")
    switch event.event {
    case "outageBegan": printLine("\(event.time) \(target) is not up: \(fault)")
    case "outageEnded": printLine("\(event.time) \(target): \(fault), over after \(outage.durationMilliseconds) ms")
    default: break
    }
}

let service = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:9672"
var reader = EventReader()
while true {
    do {
        var request = HTTPClientRequest(url: "\(service)/v1/stream")
        // The service first sends the events since then, each exactly once.
        if let id = reader.lastID { request.headers.add(name: "Last-Event-ID", value: id) }
        let response = try await HTTPClient.shared.execute(request, deadline: .distantFuture)
        if response.status != .ok { printLine("the service answers \(response.status.code)") }
        var rest = ""
        for try await bytes in response.body {
            rest += String(buffer: bytes)
            while let end = rest.firstIndex(of: "\n") {
                if let data = reader.take(rest[..<end]) { report(data) }
                rest = String(rest[rest.index(after: end)...])
            }
        }
    } catch {
        FileHandle.standardError.write(Data("the service does not answer: \(error)\n".utf8))
    }
    try await Task.sleep(for: .seconds(1))
}
