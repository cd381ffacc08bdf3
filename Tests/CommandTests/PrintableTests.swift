import NetworkLab
import Testing

/// What strangers named is shown, never obeyed.
@Suite struct PrintableTests {
    private static let name = "e\u{1b}[2J\u{7}\u{202e}"

    /// A network whose only interface has that name.
    private static func network() async throws -> Uplink {
        let uplink = try await Uplink.make()
        try await uplink.ip("link set u0 down")
        try await LabThread.detached {
            let result = try uplink.namespace.run("ip", ["link", "set", "u0", "name", name])
            guard result.status == 0 else { throw LabError(result.errors) }
            _ = try uplink.namespace.run("ip", ["link", "set", name, "up"])
            _ = try uplink.namespace.run("ip", ["route", "add", "default", "via", "192.0.2.1", "dev", name])
        }
        return uplink
    }

    private static func expectHarmless(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let bad = text.unicodeScalars.filter { scalar in
            scalar != "\n" && (scalar.value < 0x20 || 0x7f...0x9f ~= scalar.value || scalar == "\u{202e}")
        }
        #expect(bad.isEmpty, "\(text.debugDescription)", sourceLocation: sourceLocation)
    }

    @Test(arguments: [
        ["status", "--verbose"], ["why"], ["list", "--table"],
        ["wait", "--timeout", "1ms", "--interface", "\u{1b}[2J"], ["why", "fe80::1%e\u{1b}[2J"],
        ["status", "fe80::1%e\u{1b}[2J"],
    ])
    func `the name of an interface does not steer the terminal`(arguments: [String]) async throws {
        let result = try await Command.run(arguments, in: try await Self.network().namespace)
        Self.expectHarmless(result.output)
        Self.expectHarmless(result.errors)
        #expect((result.output + result.errors).contains("\\u{1b}[2J"))
    }
}
