import Foundation
import NetworkLab
import Testing

/// A client and a server at the ends of a cable, the command, and a directory for what it fetches.
final class DownloadLab: Sendable {
    let directory: ScratchDirectory
    let server: FileServer
    let client: LabNamespace
    private let far: LabNamespace

    let url = "http://192.0.2.1:\(ScriptedServer.labPort)/file"
    var file: String { directory.file("file") }
    var part: String { directory.file("file.part") }

    private init(_ directory: ScratchDirectory, _ behaviour: FileServer.Behaviour) throws {
        self.directory = directory
        (client, far) = (try LabNamespace(), try LabNamespace())
        try client.ip(
            "link set lo up",
            "link add c0 type veth peer name s0 netns \(far.path)",
            "link set c0 up",
            "addr add 192.0.2.2/24 dev c0",
            "route add default via 192.0.2.1"
        )
        try far.ip("link set lo up", "link set s0 up", "addr add 192.0.2.1/24 dev s0")
        server = try FileServer(in: far, behaviour)
    }

    static func make(_ behaviour: FileServer.Behaviour) async throws -> DownloadLab {
        try await LabThread.detached { try DownloadLab(try ScratchDirectory(), behaviour) }
    }

    /// Pulls the cable at the server's end, or puts it in.
    func setCable(isIn: Bool) async throws {
        try await LabThread.detached { [far] in try far.ip("link set s0 \(isIn ? "up" : "down")") }
    }

    /// The client has another address, as after a walk to the next network.
    func changeAddress() async throws {
        try await LabThread.detached { [client] in
            try client.ip("addr del 192.0.2.2/24 dev c0", "addr add 192.0.2.3/24 dev c0")
            try client.ip("route replace default via 192.0.2.1")
        }
    }

    /// Starts a download of the file in the directory.
    func start(_ options: String = "", environment: String = "true") async throws -> RunningCommand {
        let script = "cd \(directory.path); \(environment); exec $R download \(options) \(url)"
        return try await RunningCommand.start(script: script, in: client)
    }

    /// Runs it to its end.
    func run(_ options: String = "", environment: String = "true") async throws -> CommandResult {
        try await start(options, environment: environment).result()
    }

    /// Waits until so many bytes of the file are here.
    func untilPart(has count: Int) async throws {
        let isThere = try await eventually(every: .milliseconds(5)) { size(part) >= count }
        guard isThere else { throw LabError("not \(count) bytes, but \(size(part))") }
    }

    /// Waits until so many requests have come.
    func untilRequests(are count: Int) async throws {
        let isThere = try await eventually(every: .milliseconds(5)) {
            server.requests.count >= count
        }
        guard isThere else { throw LabError("not \(count) requests: \(server.requests)") }
    }

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }

    func content() -> [UInt8]? { FileManager.default.contents(atPath: file).map { [UInt8]($0) } }

    private func size(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? -1
    }
}
