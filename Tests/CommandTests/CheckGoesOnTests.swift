import Glibc
import NetworkLab
import Testing
import WebLab

/// `why --active`, `wait --works` and `watch --check`: what goes on with a check.
@Suite struct CheckGoesOnTests {
    @Test func `why goes on with packets`() async throws {
        let line = try await CheckedLine.make()
        let result = try await Command.run(["why", "--active", CheckedLine.world], in: line.pc)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.first?.hasPrefix("ok") == true)
        #expect(result.lines.last?.contains("works: \(CheckedLine.world) answers, proven") == true, "\(result)")
        try await line.connect(false)
        let broken = try await Command.run(["why", "--active", "--json"], in: line.pc)
        #expect(broken.status == 11 && broken.output.contains("\"place\":\"link\""), "\(broken)")
        await line.close()
    }

    @Test func `it is waited until a check says that it works`() async throws {
        let line = try await CheckedLine.make()
        let anchor = try await WebServer(in: line.provider, at: [CheckedLine.world])
        let options = "--anchor http://anchor.test:\(anchor.port)/204 --resolve anchor.test=\(CheckedLine.world)"
        try await line.connect(false)
        let late = try await line.run("wait --works --timeout 700ms")
        #expect(late.status == 75 && late.output.isEmpty, "\(late)")
        #expect(late.errors.contains("time is up after 700ms: it does not work; reachability check says"))
        let waiting = try await line.start("wait --works --timeout 60s \(options)")
        try await Task.sleep(for: .milliseconds(500))
        #expect(await waiting.restOfLines().isEmpty)
        try await line.connect(true)
        let result = try await waiting.result()
        // The gateway's addresses of IPv6 come back a moment after the cable.
        let isGood = [" internet: works: ", " internet: degraded: IPv6 "].contains { result.output.contains($0) }
        #expect(result.status == 0 && isGood, "\(result)")
        // The anchor was asked, by the address that was given.
        #expect(anchor.requests.contains { $0.contains("anchor.test") }, "\(anchor.requests)")
        await anchor.close()
        await line.close()
    }

    @Test func `verdicts are told until it is interrupted`() async throws {
        let line = try await CheckedLine.make()
        let watching = try await line.start("watch --check --json")
        #expect(try await watching.place() == "works")
        try await line.connect(false)
        #expect(try await watching.place() == "link")
        try await line.connect(true)
        while try await watching.place() != "works" {}
        watching.signal(SIGTERM)
        #expect(try await watching.result().status == 0)
        await line.close()
    }

    @Test func `a portal that a router tells of is asked`() async throws {
        let line = try await CheckedLine.make()
        let server = try await WebServer(
            in: line.gateway,
            identity: .good(for: "portal.test"),
            .portalAPI(#"{"captive":true,"user-portal-url":"https://portal.test/login"}"#)
        )
        let watching = try await line.start("watch --check -4 --json --resolve portal.test=10.1.0.1")
        #expect(try await watching.place() == "works")
        #expect(server.requests.isEmpty)
        let url = "https://portal.test:\(server.port)/api"
        try await line.announce(url)
        #expect(try await watching.place() == "portal")
        // The same again is no news; another server is, and so is that there is none.
        server.behave(.portalAPI(#"{"captive":false}"#))
        try await line.announce(url)
        try await line.announce(url + "/2")
        #expect(try await watching.place() == "works")
        #expect(server.requests.last?.hasPrefix("GET /api/2 ") == true, "\(server.requests)")
        server.behave(.portalAPI(#"{"captive":true}"#))
        try await line.announce(url)
        #expect(try await watching.place() == "portal")
        try await line.announce("urn:ietf:params:capport:unrestricted")
        #expect(try await watching.place() == "works")
        watching.signal(SIGINT)
        #expect(try await watching.result().status == 0)
        await server.close()
        await line.close()
    }

    @Test func `one check knows what networkd has written down`() async throws {
        let line = try await CheckedLine.make()
        let server = try await WebServer(
            in: line.gateway,
            identity: .good(for: "portal.test"),
            .portalAPI(#"{"captive":true}"#)
        )
        func check(lease address: String) async throws -> CommandResult {
            let script = """
                mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/netif/leases /run/systemd/netif/links
                index=$(cat /sys/class/net/p0/ifindex 2>/dev/null || ip -o link show p0 | cut -d: -f1)
                echo ADDRESS=\(address) > /run/systemd/netif/leases/$index
                echo CAPTIVE_PORTAL=https://portal.test:\(server.port)/api > /run/systemd/netif/links/$index
                exec "$@"
                """
            return try await line.run(
                "check --family 4 --json --resolve portal.test=10.1.0.1",
                after: "unshare --mount sh -c '\(script)' sh"
            )
        }
        let told = try await check(lease: "10.1.0.2")
        #expect(told.status == 15 && told.output.contains("\"place\":\"portal\""), "\(told)")
        // Files about an interface of the same number in another namespace.
        let other = try await check(lease: "10.1.0.99")
        #expect(other.status == 0, "\(other)")
        await server.close()
        await line.close()
    }

    @Test(arguments: [
        "watch --check --netns nowhere", "wait --works --netns nowhere", "why --active --netns nowhere",
    ])
    func `a namespace that is not there ends it at once`(arguments: String) async throws {
        let result = try await Command.run(script: "exec $R \(arguments)")
        #expect(result.status == 64 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("cannot enter the network namespace /run/netns/nowhere"))
    }
}
