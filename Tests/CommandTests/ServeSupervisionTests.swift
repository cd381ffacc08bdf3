import Foundation
import NetworkLab
import Testing

/// What `reachability serve` tells the service manager that has started it.
@Suite struct ServeSupervisionTests {
    private let directory: ScratchDirectory
    private let receiver: DatagramReceiver

    init() throws {
        directory = try ScratchDirectory()
        receiver = try DatagramReceiver(at: directory.file("notify"))
    }

    private func texts(to beginning: String) async throws -> [String] {
        let receiver = receiver
        return try await LabThread.detached { receiver.texts(to: beginning) }
    }

    @Test func `it is told from the beginning to the end`() async throws {
        try directory.write("serve.toml", "schema = 1\n", mode: 0o644)
        let lab = try await ServeLab.start(
            ["--config", directory.file("serve.toml")],
            in: directory,
            environment: ["NOTIFY_SOCKET=\(receiver.place)"]
        )
        #expect(try await texts(to: "STATUS") == ["READY=1", "STATUS=Everything works."])
        try await lab.uplink.setConnected(false)
        #expect(try await texts(to: "STATUS").last?.hasPrefix("STATUS=") == true)
        try await lab.uplink.setConnected(true)
        #expect(try await texts(to: "STATUS=Everything").last == "STATUS=Everything works.")
        lab.command.signal(SIGHUP)
        let reload = try await texts(to: "READY")
        #expect(reload.first?.wholeMatch(of: #/RELOADING=1\nMONOTONIC_USEC=[0-9]+/#) != nil)
        #expect(reload.last == "READY=1")
        #expect(try await lab.end() == 0)
        #expect(try await texts(to: "STOPPING").last == "STOPPING=1")
    }

    @Test func `that it lives is told for as long as it is watched`() async throws {
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

    @Test func `a manager that does not hear is told of once, and is nothing to the service`() async throws {
        let lab = try await ServeLab.start(
            environment: ["NOTIFY_SOCKET=/nowhere/notify", "WATCHDOG_USEC=100000"]
        )
        try await lab.command.untilErrors(contain: "cannot be told")
        #expect(try await lab.get("/healthz") == "ok\n")
        #expect(try await lab.end() == 0)
        #expect(
            await lab.command.errors
                == "reachability: the service manager at /nowhere/notify cannot be told: No such file or directory\n"
        )
    }

    @Test func `the history lies in the directory that was made for it`() async throws {
        let arguments = ["serve", "--listen", "none", "--socket", directory.file("s")]
        let directory = directory
        let command = try await RunningCommand.start(in: try await Uplink.make().namespace) {
            try Command.start(arguments, environment: ["STATE_DIRECTORY=\(directory.file("")):/nowhere"])
        }
        _ = try await command.line()
        #expect(access(directory.file("history.sqlite"), F_OK) == 0)
        command.signal(SIGTERM)
        #expect(try await command.result().status == 0)
    }

    @Test(arguments: [("signal", true), ("watchdog", false)])
    func `a service that was killed observed until then, one that hung did not`(
        result: String,
        isKnown: Bool
    ) async throws {
        let file = directory.file("history.sqlite")
        let uplink = try await Uplink.make()
        let first = try await ServeLab.start(history: file, on: uplink, in: directory)
        try await uplink.setConnected(false)
        // All is written: there is nothing more to happen.
        #expect(
            try await eventually {
                let (outage, readiness) = (try await first.get("/v1/outages/latest"), try await first.get("/readyz"))
                return outage.contains("\"phase\":\"during\"") && readiness.contains("\"pending\":0")
            }
        )
        // Between what was written and the kill there is some time, more than the kernel's hundredth of a second.
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

    @Test(arguments: [nil, "signal"]) func `an outage goes on over kills`(marked result: String?) async throws {
        let file = directory.file("history.sqlite")
        let uplink = try await Uplink.make()
        var lab = try await ServeLab.start(history: file, on: uplink, in: directory)
        try await uplink.setConnected(false)
        let first = lab
        #expect(try await eventually { try await first.outages().count == 1 })
        let began = try await lab.outages()
        for _ in 0..<2 {
            let killed = lab
            #expect(try await eventually { try await killed.get("/readyz").contains("\"pending\":0") })
            #expect(try await lab.end(SIGKILL) == -SIGKILL)
            if let result {
                _ = try await Command.run(
                    script: "SERVICE_RESULT=\(result) exec $R serve --mark-stopped --history \(file)"
                )
            }
            lab = try await ServeLab.start(history: file, on: uplink, in: directory)
            #expect(try await lab.outages().map(\.id) == began.map(\.id))
        }
        try await uplink.setConnected(true)
        let running = lab
        #expect(try await eventually { try await running.outages().first?.end != nil })
        #expect(try await lab.outages().map(\.id) == began.map(\.id))
        #expect(try await lab.end() == 0)
    }
}
