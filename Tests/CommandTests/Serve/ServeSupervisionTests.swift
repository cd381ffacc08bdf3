import Foundation
import LinuxSupport
import NetworkLab
import Testing

/// Reports of `reachability serve` to the service manager.
@Suite struct ServeSupervisionTests {
    private let directory = ScratchDirectory()
    private let receiver: DatagramReceiver

    private let fine = "The path out of this machine is up. Nothing beyond it is checked"

    init() throws {
        receiver = try DatagramReceiver(at: directory.file("notify"))
    }

    private func texts(to beginning: String) async throws -> [String] {
        let receiver = receiver
        return try await LabThread.detached { receiver.texts(to: beginning) }
    }

    @Test func `the service manager is notified from the start to the end`() async throws {
        try directory.write("serve.toml", "schema = 1\n", mode: 0o644)
        let lab = try await ServeLab.start(
            ["--config", directory.file("serve.toml")],
            in: directory,
            environment: ["NOTIFY_SOCKET=\(receiver.place)"]
        )
        #expect(try await texts(to: "STATUS") == ["READY=1", "STATUS=\(fine)."])
        try await lab.uplink.setConnected(false)
        #expect(try await texts(to: "STATUS").last?.hasPrefix("STATUS=") == true)
        try await lab.uplink.setConnected(true)
        #expect(try await texts(to: "STATUS=The path").last == "STATUS=\(fine).")
        lab.command.signal(SIGHUP)
        let reload = try await texts(to: "READY")
        #expect(reload.first?.wholeMatch(of: #/RELOADING=1\nMONOTONIC_USEC=[0-9]+/#) != nil)
        #expect(reload.last == "READY=1")
        #expect(try await lab.end() == 0)
        #expect(try await texts(to: "STOPPING").last == "STOPPING=1")
    }

    @Test func `watchdog messages are sent while the watchdog is set`() async throws {
        let lab = try await ServeLab.start(
            in: directory,
            environment: ["NOTIFY_SOCKET=\(receiver.place)", "WATCHDOG_USEC=100000"]
        )
        var texts = try await texts(to: "WATCHDOG")
        texts += try await self.texts(to: "WATCHDOG")
        #expect(texts.filter { $0 == "WATCHDOG=1" }.count == 2)
        #expect(texts.first == "READY=1")
        #expect(try await lab.end() == 0)
    }

    @Test func `an unreachable service manager is reported once and does not affect the service`() async throws {
        let lab = try await ServeLab.start(environment: ["NOTIFY_SOCKET=/nowhere/notify", "WATCHDOG_USEC=100000"])
        try await lab.command.untilErrors(contain: "cannot notify the service manager")
        #expect(try await lab.get("/healthz") == "ok\n")
        #expect(try await lab.end() == 0)
        #expect(
            await lab.command.errors
                == "reachability: cannot notify the service manager at /nowhere/notify: No such file or directory\n"
        )
    }

    @Test func `the history is in the directory that systemd created`() async throws {
        let arguments = ["serve", "--listen", "none", "--socket", directory.file("s")]
        let directory = directory
        let command = try await RunningCommand.start(in: try await Uplink.make().namespace) {
            try Command.start(arguments, environment: ["STATE_DIRECTORY=\(directory.file("")):/nowhere"])
        }
        _ = try await command.line()
        #expect(access(directory.file("history.sqlite"), F_OK) == 0)
        #expect(try await command.result(after: SIGTERM).status == 0)
    }

    @Test(arguments: [("signal", true), ("watchdog", false)])
    func `time before a kill counts as observed, and time before a watchdog kill does not`(
        result: String,
        isKnown: Bool
    ) async throws {
        let file = directory.file("history.sqlite")
        let uplink = try await Uplink.make()
        let first = try await ServeLab.start(history: file, on: uplink, in: directory)
        try await uplink.setConnected(false)
        // All events are written. No other event is expected.
        try await waitUntil {
            let (outage, readiness) = (try await first.get("/v1/outages/latest"), try await first.get("/readyz"))
            return outage.contains("\"phase\":\"during\"") && readiness.contains("\"pending\":0")
        }
        // More time than the kernel's resolution of 10 ms passes between the last write and the kill.
        try await Task.sleep(for: .milliseconds(50))
        let killed = Date(timeIntervalSinceNow: -0.025)
        #expect(try await first.end(SIGKILL) == -SIGKILL)
        let marking = "SERVICE_RESULT=\(result) exec $R serve --mark-stopped --history \(file)"
        #expect(try await Command.run(script: marking) == CommandResult(status: 0, output: "", errors: ""))
        // Otherwise the outage would continue.
        try await uplink.setConnected(true)
        let second = try await ServeLab.start(history: file, on: uplink, in: directory)
        let end = try await second.outages().last?.end
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        #expect((try format.parse(try #require(end)) > killed) == isKnown)
        #expect(try await second.end() == 0)
    }
}

/// `reachability serve` with inherited sockets (`sd_listen_fds(3)`).
@Suite struct ServeActivationTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.file("handed.sock") }
    /// Creates sockets, and executes the command with them as its descriptors from 3 on.
    private static let parent = """
        import os, socket, sys
        files = []
        for spec in sys.argv[1].split(","):
            kind, place = spec.split("=", 1)
            if kind == "file":
                files.append(os.open(place, os.O_RDONLY))
                continue
            family = socket.AF_INET if kind == "tcp" else socket.AF_UNIX
            made = socket.socket(family, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM)
            made.bind((place, 0) if kind == "tcp" else place)
            if kind != "datagram": made.listen()
            files.append(made.detach())
        files = [os.dup2(file, 100 + index) for index, file in enumerate(files)]
        for index, file in enumerate(files): os.dup2(file, 3 + index)
        os.closerange(3 + len(files), 200)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(files)))
        if sys.argv[2]: os.environ["LISTEN_FDNAMES"] = sys.argv[2]
        os.execv(sys.argv[3], sys.argv[3:])
        """

    /// - Parameters:
    ///   - sockets: For example `unix=PATH,tcp=127.0.0.1`.
    private func start(_ sockets: String, names: String = "", _ arguments: [String] = []) async throws -> RunningCommand
    {
        let words =
            ["python3", "-c", Self.parent, sockets, names, Command.path, "serve", "--history", "none"] + arguments
        return try await RunningCommand.start(in: try await Uplink.make().namespace) {
            try LabProcess("env", words)
        }
    }

    private func ask(_ path: String) async throws -> String { try await ServeLab.get("/healthz", at: path) }

    @Test func `an inherited Unix socket replaces the service's own and is not removed`() async throws {
        let command = try await start("unix=\(path)", names: "api", ["--listen", "none"])
        #expect(try await command.line() == "listening at \(path)")
        #expect(try await ask(path) == "ok\n")
        // Child processes do not inherit the socket: O_CLOEXEC is among the flags.
        let flags = try String(contentsOfFile: "/proc/\(command.identifier)/fdinfo/3", encoding: .utf8)
        let line = flags.split(separator: "\n").first { $0.hasPrefix("flags:") } ?? ""
        #expect(Int(line.dropFirst(6).filter { !$0.isWhitespace }, radix: 8).map { $0 & 0o2000000 } == 0o2000000)
        let result = try await command.result(after: SIGTERM)
        #expect((result.status, result.errors) == (0, ""))
        #expect(try LocalSocket.state(of: path) == .stale)
    }

    @Test func `inherited sockets of both kinds are used, and no other is opened`() async throws {
        let command = try await start("tcp=127.0.0.1,unix=\(path)", names: "http:api")
        let line = try await command.line()
        #expect(line.wholeMatch(of: #/listening at http://127\.0\.0\.1:[0-9]+/, .+handed\.sock/#) != nil, "\(line)")
        #expect(!line.contains("9672"))
        #expect(try await command.result(after: SIGTERM).status == 0)
    }

    @Test(arguments: [
        ("datagram=PATH", "", "descriptor 3: it is not a listening stream socket"),
        ("unix=PATH,file=/dev/null", "api:x", "descriptor 4 (x): Socket operation on non-socket"),
        ("unix=PATH", "http", "descriptor 3 (http): it is not a TCP socket"),
        ("tcp=127.0.0.1", "api", "descriptor 3 (api): it is not a Unix socket"),
    ])
    func `an unusable inherited socket is refused`(sockets: String, names: String, why: String) async throws {
        let command = try await start(sockets.replacing("PATH", with: path), names: names, ["--socket", "none"])
        let result = try await command.result()
        #expect(result.errors == "reachability: cannot listen at \(why)\n")
        #expect(result.status == 78)
    }

    @Test func `an inherited socket that others can reach, and one for TLS, need a certificate`() async throws {
        let secured = try await start("tcp=127.0.0.1", names: "https").result()
        let words = "cannot use TLS at the inherited socket: certificate and key are not configured"
        #expect(secured.errors.contains(words) && secured.status == 78)
        let open = try await start("tcp=0.0.0.0").result()
        #expect(open.errors.contains(#/cannot listen at 0\.0\.0\.0:[0-9]+: without TLS, only loopback addresses/#))
        #expect(open.status == 78)
    }

    /// The first client starts the service, and gets a complete response.
    @Test(.enabled(if: access("/usr/bin/systemd-socket-activate", X_OK) == 0))
    func `systemd passes a socket at which a client already waits`() async throws {
        let path = path
        let words = ["-l", path, "--fdname=api", Command.path, "serve", "--listen", "none", "--history", "none"]
        let command = try await RunningCommand.start(in: try await Uplink.make().namespace) {
            try LabProcess("systemd-socket-activate", words)
        }
        try await waitUntil { try LocalSocket.state(of: path) == .served }
        #expect(try await ask(path) == "ok\n")
        #expect(try await command.result(after: SIGTERM).status == 0)
    }
}
