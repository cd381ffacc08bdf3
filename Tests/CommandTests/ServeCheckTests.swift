import Foundation
import LinuxSupport
import NetworkLab
import Testing

/// `reachability serve` with checks: reloads, ends and namespaces that go while they are made.
@Suite struct ServeCheckTests {
    private let directory: ScratchDirectory
    private var file: String { directory.file("serve.toml") }

    init() throws {
        directory = try ScratchDirectory()
    }

    private func write(_ targets: String) throws {
        try directory.write("serve.toml", "schema = 1\n\(targets)", mode: 0o644)
    }

    /// One that nobody answers: the routers are not there.
    private static let plain = "[[target]]\nname = \"it\"\nhost = \"203.0.113.9\"\n"
    private static let checked = plain + "checks = [\"tcp:443\"]\ninterval = \"1s\"\n"

    private func attribution(_ lab: ServeLab) async throws -> String {
        let target = try await lab.object("/v1/targets/it")
        return "\(target["attribution"] ?? "-") \(target["basis"] ?? "-")"
    }

    @Test func `a reload adds and takes away checks while an outage lasts`() async throws {
        try write(Self.plain)
        let lab = try await ServeLab.start(["--config", file], in: directory)
        #expect(try await attribution(lab) == "up path")
        try write(Self.checked)
        lab.command.signal(SIGHUP)
        #expect(try await eventually { try await attribution(lab) == "upstream path+checks" })
        let outage = try #require(try await lab.outages().first)
        #expect(outage.cause == "gateway")
        // The cable is out: the kernel says so, and it is the same outage.
        try await lab.uplink.ip("link set far down")
        #expect(try await eventually { try await attribution(lab) == "us path" })
        try await lab.uplink.ip("link set far up")
        #expect(try await eventually { try await attribution(lab) == "upstream path+checks" })
        #expect(try await lab.outages().map(\.id) == [outage.id])
        // Without checks it is as the kernel says.
        try write(Self.plain)
        lab.command.signal(SIGHUP)
        #expect(try await eventually { try await attribution(lab) == "up path" })
        #expect(try await lab.outages().map(\.ending) == ["up"])
        #expect(try await lab.end() == 0)
    }

    @Test func `a namespace that goes is not observed, and nothing is blamed`() async throws {
        let namespace = try await NamedNamespace.make()
        try write(
            "[[target]]\nname = \"it\"\nat-large = true\nnamespace = \"\(namespace.name)\"\nchecks = [\"network\"]\n"
        )
        let lab = try await ServeLab.start(["--config", file], in: directory)
        #expect(try await eventually { try await attribution(lab) == "upstream path+checks" })
        namespace.delete()
        #expect(try await eventually { try await attribution(lab) == "unknown path" })
        #expect(try await lab.object("/v1/targets/it")["cause"] as? String == "notObserved")
        #expect(try await lab.outages().map(\.ending) == ["unknown"])
        // Another one of that name is checked, not the one that is gone.
        let other = try await NamedNamespace.make(namespace.name)
        #expect(try await eventually { try await attribution(lab) == "upstream path+checks" })
        let counters = "/proc/thread-self/net/dev"
        let before = try await other.uplink.namespace.perform { TextFile.read(counters) }
        #expect(
            try await eventually {
                try await other.uplink.namespace.perform { TextFile.read(counters) } != before
            }
        )
        #expect(try await lab.end() == 0)
    }

    @Test func `it ends at once while checks are under way`() async throws {
        try write(
            (1...50).map { "[[target]]\nname = \"\($0)\"\nhost = \"203.0.113.\($0)\"\nchecks = [\"tcp:443\"]\n" }
                .joined()
        )
        let lab = try await ServeLab.start(["--config", file], in: directory)
        #expect(
            try await eventually {
                try await lab.get("/metrics").contains("reachability_checks_total{")
            }
        )
        let start = ContinuousClock.now
        #expect(try await lab.end() == 0)
        // Only a machine without other work can keep this limit.
        if getenv("SERVICE_TIMES") != nil { #expect(ContinuousClock.now - start < .seconds(1)) }
    }

    @Test func `names that do not resolve keep nobody from asking, and cost no more than they may`() async throws {
        let names = (1...1000).map {
            "[[target]]\nname = \"\($0)\"\nhost = \"n\($0).invalid\"\nchecks = [\"tcp:443\"]\n"
        }
        try write(names.joined())
        let lab = try await ServeLab.start(["--config", file], in: directory)
        #expect(
            try await eventually {
                try await lab.get("/metrics").contains("reachability_checks_total{")
            }
        )
        let metrics = try await lab.get("/metrics")
        #expect(metrics.contains("reachability_targets 1000\n"))
        let descriptors = metrics.firstRange(of: "\nprocess_open_fds ").map {
            metrics[$0.upperBound...].prefix { $0 != "\n" }
        }
        #expect(try #require(descriptors.flatMap { Int($0) }) < 1500)
        #expect(try await lab.end() == 0)
    }
}
