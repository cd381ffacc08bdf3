import Foundation
import NetworkLab
import Testing

/// `reachability record`: the content of the file, and the end of the command.
@Suite struct RecordTests {
    private static let hosts = ["127.0.0.1", "203.0.113.9", "2001:db8:9::9", "localhost", "example.invalid"]

    @Test(arguments: [1, 2] as [UInt64])
    func `a replay prints the lines of the recording, including their times`(seed: UInt64) async throws {
        let (uplink, directory) = (try await Uplink.make(), ScratchDirectory())
        let file = directory.file("a.nlrec")
        let record = try await RunningCommand.start(
            ["record", "--json", "--paths", file] + Self.hosts,
            in: uplink.namespace
        )
        var lines = [try await record.line()]
        var state = seed
        func chance(_ limit: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % limit
        }
        for _ in 0..<40 {
            // Changes that are not possible in this state are ignored.
            try? await uplink.ip(Self.change(chance(12), chance(9) + 1))
        }
        let result = try await record.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        lines = result.lines.map(String.init)
        #expect(lines.count > 5)
        let replay = try await Command.run(["replay", "--json", "--paths", file])
        #expect(replay == CommandResult(status: 0, output: result.output, errors: ""))
        // With fewer options, the same states are printed, with equally valid times.
        let less = try await Command.run(["replay", file])
        #expect(less.status == 0)
        #expect(less.lines.count <= lines.count)
        #expect(less.lines.count >= Self.hosts.count)
    }

    private static func change(_ kind: UInt64, _ number: UInt64) -> String {
        switch kind {
        case 0: "-4 route del default"
        case 1, 2: "-4 route replace default via 192.0.2.\(number)"
        case 3: "-6 route del default"
        case 4: "-6 route replace default via 2001:db8::\(number)"
        case 5: "link set u0 down"
        case 6: "link set u0 up"
        case 7: "link set far \(number % 2 == 0 ? "up" : "down")"
        case 8: "addr replace 192.0.2.\(number + 100)/24 dev u0"
        case 9: "-4 route replace 203.0.113.0/24 via 192.0.2.\(number)"
        case 10: "-4 route replace prohibit 203.0.113.9"
        default: "-4 route flush root 203.0.113.0/24"
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal completes the file`(signal: CInt) async throws {
        let directory = ScratchDirectory()
        let record = try await RunningCommand.start(["record", directory.file("a"), "127.0.0.1"])
        let line = try await record.line()
        #expect(try await record.result(after: signal) == CommandResult(status: 0, output: line + "\n", errors: ""))
        let mode = try FileManager.default.attributesOfItem(atPath: directory.file("a"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let replay = try await Command.run(["replay", directory.file("a")])
        #expect(replay == CommandResult(status: 0, output: line + "\n", errors: ""))
    }

    @Test func `an existing file is kept, or replaced with --force`() async throws {
        let directory = ScratchDirectory()
        try directory.write("a", bytes: Array("mine".utf8))
        let file = directory.file("a")
        let refusal = try await Command.run(["record", file, "127.0.0.1"])
        refusal.expectRefusal("cannot create \(file): File exists; --force replaces it", status: 73)
        #expect(try directory.bytes(of: "a") == Array("mine".utf8))
        let record = try await RunningCommand.start(["record", "--force", file, "127.0.0.1"])
        _ = try await record.line()
        #expect(try await record.result(after: SIGINT).status == 0)
        #expect(try await Command.run(["replay", file]).lines.count == 1)
    }

    @Test func `an invalid target creates no file`() async throws {
        let directory = ScratchDirectory()
        let file = directory.file("a")
        #expect(try await Command.run(["record", file, "x:1"]).status == 64)
        #expect(try await Command.run(["record", "--netns", "nowhere", file]).status == 64)
        #expect(try await Command.run(["record", "--limit", "many", file]).status == 64)
        #expect(!FileManager.default.fileExists(atPath: file))
        let missing = try await Command.run(["record", directory.file("b/a")])
        missing.expectRefusal("cannot create \(directory.file("b/a")): No such file or directory", status: 73)
    }

    @Test func `a host in place of the file creates no file`() async throws {
        let directory = ScratchDirectory()
        for words in [["example.org"], ["192.0.2.1", "trouble.nlrec"]] {
            let line = words.joined(separator: " ")
            let result = try await Command.run(script: "cd \(directory.path) && exec $R record \(line)")
            result.expectRefusal(
                "\"\(words[0])\" is not the name of a recording; did you mean: reachability record trouble.nlrec"
                    + " \(line)? Write a file that does not end in .nlrec or .pcapng with a slash: ./\(words[0])"
            )
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        for file in ["a.nlrec", "./a"] {
            let script = "cd \(directory.path) && exec $R record \(file) 127.0.0.1"
            let record = try await RunningCommand.start(script: script)
            _ = try await record.line()
            #expect(try await record.result(after: SIGTERM).status == 0)
            #expect(FileManager.default.fileExists(atPath: directory.file(file)))
        }
    }

    @Test func `a reader that leaves does not end the recording`() async throws {
        let (uplink, directory) = (try await Uplink.make(), ScratchDirectory())
        let file = directory.file("a")
        let record = try await RunningCommand.start(["record", file], in: uplink.namespace)
        _ = try await record.line()
        await record.closeOutput()
        try await uplink.setConnected(false)
        // A change is in the file as soon as it is received.
        try await waitUntil {
            try await Command.run(["replay", file]).lines.last?.hasSuffix("network: not reachable, no route")
                == true
        }
        let result = try await record.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
    }

    @Test func `a full standard output is reported, and the recording continues`() async throws {
        let directory = ScratchDirectory()
        let script = """
            $R record \(directory.file("a")) 127.0.0.1 > /dev/full & pid=$!
            until $R replay \(directory.file("a")) 2>&- | grep -q reachable; do sleep 0.05; done
            kill -TERM $pid; wait $pid; echo $?
            """
        let result = try await Command.run(script: script)
        let failure = "reachability: cannot write to standard output: No space left on device"
        #expect(result.output == "74\n")
        #expect(result.errors == "\(failure); the recording continues\n\(failure)\n")
        #expect(try await Command.run(["replay", directory.file("a")]).lines.count == 1)
    }

    @Test func `the size limit ends the recording with a complete file`() async throws {
        let (uplink, directory) = (try await Uplink.make(), ScratchDirectory())
        let file = directory.file("a")
        let record = try await RunningCommand.start(
            ["record", "--limit", "20kB", "--quiet", file, "203.0.113.9"],
            in: uplink.namespace
        )
        let changes = Task {
            while !Task.isCancelled {
                try await uplink.setConnected(false)
                try await uplink.setConnected(true)
            }
        }
        let result = try await record.result()
        changes.cancel()
        #expect(result.status == 0)
        #expect(result.output.isEmpty)
        #expect(result.errors == "reachability: \(file) has reached its limit of 20000 bytes\n")
        #expect((10_000...20_000).contains(try directory.bytes(of: "a").count))
        #expect(try await Command.run(["replay", file]).status == 0)
    }
}

/// `reachability replay`: recordings of earlier versions print the same lines as before.
@Suite struct ReplayTests {
    private static let recordings = Checkout.path("Tests/Recordings")

    @Test(arguments: ["links", "batches", "places"])
    func `an old recording prints the same lines`(name: String) async throws {
        let output = try String(contentsOfFile: "\(Self.recordings)/\(name).jsonl", encoding: .utf8)
        let result = try await Command.run(["replay", "--json", "--paths", "\(Self.recordings)/\(name).nlrec"])
        #expect(result == CommandResult(status: 0, output: output, errors: ""))
    }

    @Test func `a file that is not a recording is refused`() async throws {
        let directory = ScratchDirectory()
        try directory.write("a", bytes: Array("PNG".utf8))
        let refusal = try await Command.run(["replay", directory.file("a")])
        refusal.expectRefusal("cannot replay \(directory.file("a")): the file is not a recording", status: 65)
        try directory.write("old", bytes: [0x89] + Array("NLREC\r\n".utf8) + [1, 1, 0, 0, 0, 0, 0])
        let old = try await Command.run(["replay", directory.file("old")])
        let reason = "the file is from an older version of this command; record again"
        old.expectRefusal("cannot read \(directory.file("old")): \(reason)", status: 65)
        let missing = try await Command.run(["replay", directory.file("b")])
        missing.expectRefusal("cannot read \(directory.file("b")): No such file or directory", status: 66)
        #expect(try await Command.run(["replay"]).status == 64)
        #expect(try await Command.run(["replay", "--speed", "0", directory.file("a")]).status == 64)
    }

    @Test func `--redact-to creates a copy with the same states`() async throws {
        let directory = ScratchDirectory()
        let (file, copy) = ("\(Self.recordings)/links.nlrec", directory.file("copy"))
        let made = try await Command.run(["replay", "--redact-to", copy, file])
        #expect(made == CommandResult(status: 0, output: "", errors: ""))
        let (one, other) = (try await Command.run(["replay", file]), try await Command.run(["replay", copy]))
        #expect(other.status == 0)
        #expect(other.errors.isEmpty)
        #expect(other.lines.map { $0.prefix(24) }.sorted() == one.lines.map { $0.prefix(24) }.sorted())
        #expect(!other.output.contains(" 8.8.8.8:"))
        let again = try await Command.run(["replay", "--redact-to", copy, file])
        again.expectRefusal("cannot create \(copy): File exists", status: 73)
    }

    @Test func `--speed keeps the pauses of the recording`() async throws {
        let file = "\(Self.recordings)/batches.nlrec"
        let start = ContinuousClock.now
        let slow = try await Command.run(["replay", "--speed", "4", file])
        #expect(ContinuousClock.now - start > .milliseconds(500))
        #expect(try await Command.run(["replay", file]) == slow)
    }
}
