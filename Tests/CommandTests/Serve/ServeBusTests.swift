import BusLab
import Foundation
import NetworkLab
import Testing

/// `reachability serve` with `listen.dbus`, on a private bus.
@Suite(.enabled(if: BusLab.isPossible)) struct ServeBusTests {
    private let directory = ScratchDirectory()

    private func start(on lab: BusLab) async throws -> ServeLab {
        try directory.write("serve.toml", "schema = 1\n[listen]\ndbus = true\n", mode: 0o644)
        return try await ServeLab.start(
            ["--config", directory.file("serve.toml")],
            in: directory,
            environment: ["DBUS_SYSTEM_BUS_ADDRESS=\(lab.address)"]
        )
    }

    @Test func `the state is on the bus with the packaged policy, and changes are reported`() async throws {
        let lab = try await BusLab()
        let serve = try await start(on: lab)
        try await waitUntil { try await lab.property("Status") == #"s "up""# }
        try await waitUntil { try await lab.property("Gateway") != #"s """# }
        #expect(try await lab.property("Target") == #"s "internet""#)
        let introspection = try await lab.busctl(["introspect", BusLab.name, BusLab.path])
        for member in ["Status", "Party", "Cause", "Reason", "Since", "Interface", "Gateway", "Target", "Headline"] {
            let line = try Regex("\\.\(member) +property .* emits-change")
            #expect(introspection.contains(line), "\(introspection)")
        }
        #expect(introspection.contains(#/\.Targets +property +a\{sa\{sv\}\} .* emits-invalidation/#))
        #expect(introspection.contains(#/\.Version +property .* const/#))
        #expect(introspection.contains(#/\.Changed +signal +a\{sa\{sv\}\}/#))
        // GetAll returns what the introspection data promises.
        let all = try await lab.call("org.freedesktop.DBus.Properties", "GetAll", "s", BusLab.name)
        #expect(all.hasPrefix("a{sv} 11 "), "\(all)")

        let monitor = try await lab.monitor()
        try await serve.uplink.setConnected(false)
        try await waitUntil { try await lab.property("Status") == #"s "down""# }
        #expect(try await lab.property("Party") == #"s "us""#)
        try await waitUntil {
            let text = String(decoding: monitor.drain(), as: UTF8.self)
            return text.contains(#""member":"Changed""#) && text.contains(#""member":"PropertiesChanged""#)
        }
        #expect(try await serve.end() == 0)
        #expect(await serve.command.errors == "")
        try await waitUntil { try await !lab.busctl(["list"]).contains(BusLab.name) }
    }

    @Test func `without a bus and without a policy the service runs, and reports it once`() async throws {
        let missing = try await start(on: try await BusLab(isStarted: false))
        try await missing.command.untilErrors(contain: "cannot publish")
        #expect(try await missing.get("/healthz") == "ok\n")
        #expect(try await missing.end() == 0)
        #expect(
            await missing.command.errors.hasSuffix(
                "No such file or directory; install and start dbus; the service tries again\n"
            )
        )

        let lab = try await BusLab(hasPolicy: false)
        let refused = try await start(on: lab)
        try await refused.command.untilErrors(contain: "must permit the name to this user")
        #expect(try await refused.get("/healthz") == "ok\n")
        #expect(try await refused.end() == 0)
        #expect(await refused.command.errors.split(separator: "\n").count == 1)
        withExtendedLifetime(lab) {}
    }

    /// The unit runs the service in the group that the policy names.
    @Test func `the policy, the unit and the created group agree`() throws {
        let group = "reachability"
        #expect(try Checkout.text("examples/systemd/\(BusLab.name).conf").contains("<policy group=\"\(group)\">"))
        #expect(try Checkout.text("examples/systemd/reachability.service").contains("\nSupplementaryGroups=\(group)\n"))
        let user = "_reachability"
        #expect(try Checkout.text("examples/systemd/reachability.service").contains("\nUser=\(user)\n"))
        let created = try Checkout.text("examples/systemd/sysusers.conf").split(separator: "\n")
        #expect(created.contains("g \(group) -") && created.contains("m \(user) \(group)"))
        #expect(created.contains { $0.hasPrefix("u \(user) - ") })
    }
}

/// The programs of `examples/clients`. A program whose tools are not installed is not tested.
@Suite struct ClientExampleTests {
    private static let folder = Checkout.path("examples/clients")
    private let directory = ScratchDirectory()

    /// Runs a shell command.
    private static func succeeds(_ script: String) -> Bool {
        (try? LabProcess("sh", ["-c", script]).wait())?.status == 0
    }

    private static let canCompileC = succeeds("cc --version && pkg-config --exists libsystemd")
    private static let hasPythonBus = succeeds("/usr/bin/python3 -c 'import dbus, gi'")

    /// Starts a service on a bus, runs an example, and expects its lines before and after the loss of the network.
    ///
    /// - Parameter command: A shell command with `$E` for the folder of the examples, `$S` for the socket, and `$D` for a directory.
    private func expect(
        _ command: String,
        before: String,
        after: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let lab = BusLab.isPossible ? try await BusLab() : nil
        try directory.write("serve.toml", "schema = 1\n[listen]\ndbus = \(lab != nil)\n", mode: 0o644)
        let variables = ["DBUS_SYSTEM_BUS_ADDRESS=\(lab?.address ?? "")"]
        let serve = try await ServeLab.start(
            ["--config", directory.file("serve.toml")],
            in: directory,
            environment: variables
        )
        if let lab { try await waitUntil { try await lab.property("Status") == #"s "up""# } }
        let words =
            variables + ["E=\(Self.folder)", "S=\(serve.socket)", "D=\(directory.path)", "setsid", "sh", "-c", command]
        let example = try await RunningCommand.start(in: serve.uplink.namespace) { try LabProcess("env", words) }
        let first = try await example.line()
        let errors = await example.errors
        #expect(first.contains(before), "\(first) \(errors)", sourceLocation: sourceLocation)
        try await serve.uplink.setConnected(false)
        var lines: [String] = []
        while lines.last?.contains(after) != true { lines.append(try await example.line()) }
        // The shell and its child processes have a process group of their own.
        kill(-example.identifier, SIGTERM)
        _ = try await example.result()
        #expect(try await serve.end() == 0)
        withExtendedLifetime(lab) {}
    }

    @Test(.enabled(if: BusLab.isPossible && canCompileC)) func `the program in C prints changes from the bus`()
        async throws
    {
        let build = "cc -Wall -Wextra -Werror -o $D/bus $E/bus.c $(pkg-config --cflags --libs libsystemd)"
        try await expect("\(build) && exec $D/bus", before: "up: The path out of this machine is up", after: "down: ")
    }

    @Test(.enabled(if: BusLab.isPossible && hasPythonBus)) func `the program in Python prints changes from the bus`()
        async throws
    {
        try await expect("exec /usr/bin/python3 $E/bus.py", before: "internet: up", after: "internet: down us ")
    }

    @Test(.enabled(if: BusLab.has("python3"))) func `the program in Python prints outages from the socket`()
        async throws
    {
        try await expect("exec python3 $E/stream.py $S", before: "internet up", after: "outageBegan internet us ")
    }

    @Test(.enabled(if: BusLab.has("rustc"))) func `the program in Rust prints events from the socket`() async throws {
        let build = "rustc -D warnings -o $D/stream $E/stream.rs"
        try await expect("\(build) && exec $D/stream $S", before: "snapshot {", after: "outageBegan {")
    }

    @Test(.enabled(if: BusLab.has("jq"))) func `the script prints changes from the command`() async throws {
        let path = "PATH=\(URL(filePath: Command.path).deletingLastPathComponent().path):$PATH"
        try await expect("\(path) exec sh $E/state.sh watch", before: " reachable", after: " notReachable noRoute")
    }

    @Test(.enabled(if: BusLab.isPossible && BusLab.has("jq") && BusLab.has("curl")))
    func `the script prints the state from the bus and the socket`() async throws {
        let loop = "while :; do sh $E/state.sh bus; sh $E/state.sh socket $S; sleep 0.2; done"
        try await expect(loop, before: #"s "up""#, after: "internet: us")
    }
}
