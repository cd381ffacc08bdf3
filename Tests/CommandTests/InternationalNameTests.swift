import NetworkLab
import Testing

/// Names of other scripts: encoded for the name service, and shown as they were given.
@Suite struct InternationalNameTests {
    private static let encoded = "xn--bcher-kva.example"

    @Test func `a name server is asked for the encoded name`() async throws {
        let world = try await NameWorld.make()
        let server = try await world.serve(.portal("203.0.113.9"))
        let status = try await world.run("status bücher.example")
        #expect(status.status == 0, "\(status)")
        #expect(status.output.contains(" bücher.example: reachable"), "\(status)")
        #expect(try await world.run("wait BÜCHER。example --timeout 30s").status == 0)
        #expect(try await world.run("wait --dns bücher.example --timeout 30s").status == 0)
        #expect(Set(server.questions.map(\.name)) == [Self.encoded])
        let watch = try await world.start("watch bücher.example")
        while try await !watch.status(of: "bücher.example").hasPrefix("reachable") {}
        watch.signal(15)
        let why = try await world.run("why bücher.example")
        #expect(why.status == 0 && why.output.contains("192.0.2.53 over u0: "), "\(why)")
        #expect(Set(server.questions.map(\.name)) == [Self.encoded])
    }

    @Test(arguments: ["Bücher.example", encoded])
    func `the hosts file may have it in its letters, or encoded`(listed: String) async throws {
        let world = try await NameWorld.make()
        let server = try await world.serve(.ignorant)
        func run(_ arguments: String) async throws -> CommandResult {
            let hosts = "printf '203.0.113.9 \(listed)\\n' > /run/hosts && mount --bind /run/hosts /etc/hosts"
            let script = "\(hosts) && exec $R \(arguments)"
            let order = "hosts: files dns\\n"
            return try await Command.run(
                script: NameWorld.script(script, resolv: NameWorld.resolv, order: order, upstream: nil),
                in: world.client
            )
        }
        // The C library, which answers the second, does not find the first by itself.
        for arguments in ["status bücher.example", "wait --dns bücher.example --timeout 30s", "status \(Self.encoded)"]
        {
            #expect(try await run(arguments).status == 0, "\(arguments), \(server.questions.count) questions")
        }
        let why = try await run("why bücher.example")
        #expect(why.output.contains("it is in /etc/hosts"), "\(why)")
    }
}
