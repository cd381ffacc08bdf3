import Foundation
import LinuxSupport
import NetworkLab
import Testing

/// The configuration of `reachability serve`, and reading it again.
@Suite struct ServeReloadTests {
    private let directory: ScratchDirectory
    private var file: String { directory.file("serve.toml") }

    init() throws {
        directory = try ScratchDirectory()
    }

    private func write(_ targets: String) throws {
        try directory.write("serve.toml", "schema = 1\n\(targets)", mode: 0o644)
    }

    private static let internet = "[[target]]\nname = \"internet\"\nat-large = true\n"
    private static let other = "[[target]]\nname = \"other\"\nhost = \"203.0.113.9\"\n"

    @Test func `what has changed is applied, and the rest keeps its time`() async throws {
        try write(Self.internet)
        let lab = try await ServeLab.start(["--config", file], in: directory)
        try await lab.uplink.setConnected(false)
        #expect(try await eventually { try await lab.outages().count == 1 })
        try write(Self.internet + Self.other)
        lab.command.signal(SIGHUP)
        try await lab.command.untilErrors(contain: "reachability: \(file) is applied\n")
        #expect(try await lab.get("/metrics").contains("seconds_total{target=\"other\",state=\"us\"}"))
        // The outage that lasts is the same.
        #expect(try await lab.outages().filter { $0.target == "internet" }.map(\.end) == [nil])
        try write(Self.other)
        #expect(try await post(lab).contains("\"needsRestart\":[],\"targets\":[\"other\"]"))
        try write("[listen]\nhttp = []\n" + Self.other)
        #expect(try await post(lab).contains("\"needsRestart\":[\"listen\"]"))
        #expect(try await lab.end() == 0)
    }

    @Test func `a bad file changes nothing, and is told`() async throws {
        try write(Self.internet)
        let lab = try await ServeLab.start(["--config", file], in: directory)
        try write("[[target]]\nname = \"x\"\nhots = \"203.0.113.9\"\n")
        lab.command.signal(SIGHUP)
        try await lab.command.untilErrors(contain: "is not applied; what was so before goes on\n")
        #expect(
            await lab.command.errors.contains("\(file):4: target[1].hots: there is no such key; did you mean host?\n")
        )
        #expect(try await lab.get("/v1/targets").contains("\"name\":\"internet\""))
        let answer = try await post(lab)
        #expect(answer.contains("\"status\":422"))
        #expect(answer.contains("\"path\":\"target[1].hots\",\"line\":4"))
        #expect(try await lab.get("/metrics").contains("reachability_configuration_stale 1\n"))
        try write("[[target]]\nname = \"x\"\nhost = \"203.0.113.9\"\nnamespace = \"nowhere\"\n")
        #expect(try await post(lab).contains("\"path\":\"target[1]\""))
        #expect(try await lab.get("/v1/targets").contains("\"name\":\"internet\""))
        #expect(try await lab.end() == 0)
    }

    @Test func `the command lets the service read it again`() async throws {
        try write(Self.internet)
        let lab = try await ServeLab.start(["--config", file], in: directory)
        let reload = ["serve", "--reload", "--socket", lab.socket]
        try write(Self.internet + Self.other)
        #expect(
            try await Command.run(reload) == CommandResult(status: 0, output: "\(file) is applied\n", errors: "")
        )
        try write("[listen]\nhttp = []\n" + Self.other)
        #expect(try await Command.run(reload).output == "\(file) is applied; a restart is needed for listen\n")
        try write("[[target]]\nname = \"x\"\nhost = \"203.0.113.9\"\nhots = 1\n")
        let refused = try await Command.run(reload)
        #expect(refused.status == 78)
        #expect(
            refused.errors == """
                \(file):5: target[1].hots: there is no such key; did you mean host?
                reachability: \(file) is not applied; what was so before goes on

                """
        )
        #expect(try await lab.end() == 0)
        try await Command.run(reload)
            .expectRefusal(
                "no service listens at \(lab.socket): start one with `reachability serve`, or name its socket with --socket",
                status: 69
            )
        let without = try await ServeLab.start()
        try await Command.run(["serve", "--reload", "--socket", without.socket])
            .expectRefusal("the service was started without a configuration: give it one with --config", status: 69)
        #expect(try await without.end() == 0)
    }

    @Test func `a file is checked without running`() async throws {
        try write(Self.internet)
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        for good in [file, root.appending(path: "examples/serve.toml").path] {
            let result = try await Command.run(["serve", "--check", good])
            #expect(result == CommandResult(status: 0, output: "the configuration is valid\n", errors: ""))
        }
        try write("[listen]\nport = 1\n[history]\nkeep = 1\n")
        for option in ["--check", "--config"] {
            let result = try await Command.run(["serve", option, file, "--history", "none"])
            #expect(result.status == 78)
            #expect(
                result.errors == """
                    \(file):3: listen.port: there is no such key; there are http, https, socket
                    \(file):5: history.keep: it is a text, not a whole number

                    """
            )
        }
        let missing = try await Command.run(["serve", "--check", "/nowhere"])
        #expect(
            missing
                == CommandResult(
                    status: 78,
                    output: "",
                    errors: "/nowhere: it cannot be read: No such file or directory\n"
                )
        )
    }

    private func post(_ lab: ServeLab) async throws -> String {
        let socket = lab.socket
        return try await LabThread.detached {
            let request = "POST /v1/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            let bytes = try LocalSocket.exchange(
                Array(request.utf8),
                with: socket,
                limit: 1 << 20,
                patience: .seconds(60)
            )
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
