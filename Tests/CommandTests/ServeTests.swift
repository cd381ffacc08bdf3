import Foundation
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

/// `reachability serve` against the real kernel.
@Suite struct ServeTests {
    @Test func `it sleeps while nothing happens, also after an outage and questions`() async throws {
        let directory = try ScratchDirectory()
        let lab = try await ServeLab.start(history: directory.file("history.sqlite"), in: directory)
        try await lab.uplink.ip("link set far down")
        #expect(try await eventually { try await !lab.outages().isEmpty })
        for path in ["/", "/outages", "/metrics", "/v1/status"] { _ = try await lab.get(path) }
        // The history marks an outage that lasts every ten seconds.
        try await lab.uplink.ip("link set far up")
        #expect(try await eventually { try await lab.outages().allSatisfy { $0.end != nil } })
        // A timer of a second would never let it.
        try await ThreadActivity(of: lab.command.identifier).waitForRest()
        #expect(try await lab.end() == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT]) func `a signal ends it cleanly`(signal: CInt) async throws {
        let lab = try await ServeLab.start()
        #expect(try await lab.get("/healthz") == "ok\n")
        #expect(try await lab.end(signal) == 0)
        #expect(access(lab.socket, F_OK) != 0)
        #expect(await lab.command.errors == "")
    }

    @Test func `a stream tells of the kernel's change, and ends whole with the service`() async throws {
        let lab = try await ServeLab.start()
        async let stream = lab.get("/v1/stream")
        #expect(
            try await eventually {
                try await lab.get("/metrics").contains("reachability_http_streams 1\n")
            }
        )
        try await lab.uplink.ip("link set u0 down")
        #expect(try await eventually { try await lab.outages().count == 1 })
        #expect(try await lab.end() == 0)
        let text = try await stream
        #expect(text.contains("event: snapshot\n"))
        #expect(text.contains("event: outageBegan\n"))
        #expect(text.hasSuffix("0\r\n\r\n"))
    }

    @Test func `a socket that is served is refused, and one that a kill left is taken`() async throws {
        let lab = try await ServeLab.start()
        let arguments = ["serve", "--listen", "none", "--socket", lab.socket, "--history", "none"]
        try await Command.run(arguments)
            .expectRefusal("cannot listen at \(lab.socket): another service listens there", status: 69)
        #expect(try await lab.end(SIGKILL) == -SIGKILL)
        #expect(access(lab.socket, F_OK) == 0)
        let next = try await ServeLab.start(on: lab.uplink, in: lab.directory)
        #expect(try await next.get("/healthz") == "ok\n")
        #expect(try await next.end() == 0)
    }

    @Test func `an address that is taken is refused`() async throws {
        let namespace = try await Uplink.make().namespace
        let first = try await RunningCommand.start(["serve", "--socket", "none", "--history", "none"], in: namespace)
        #expect(try await first.line() == "listening at http://127.0.0.1:9672/")
        try await Command.run(["serve", "--socket", "none", "--history", "none"], in: namespace)
            .expectRefusal("cannot listen at 127.0.0.1:9672: another program listens there", status: 69)
        first.signal(SIGTERM)
        #expect(try await first.result().status == 0)
    }

    @Test func `what cannot be listened at is refused`() async throws {
        try await Command.run(["serve", "--listen", "192.0.2.1:80", "--socket", "none", "--history", "none"])
            .expectRefusal(
                "cannot listen at 192.0.2.1:80: others could ask without saying who they are: name an address of the loopback, or say listen.https in the configuration"
            )
        try await Command.run(["serve", "--listen", "none", "--socket", "none", "--history", "none"])
            .expectRefusal("there is nothing to listen at: name an address with --listen or a path with --socket")
        try await Command.run(["serve", "--listen", "none", "--socket", "/nowhere/s", "--history", "none"])
            .expectRefusal("cannot listen at /nowhere/s: No such file or directory", status: 73)
    }
}
