import Foundation
import NetworkLab
import Testing

/// `reachability record`: what is in the file, and how it ends.
@Suite struct RecordTests {
    private static let hosts = ["127.0.0.1", "203.0.113.9", "2001:db8:9::9", "localhost", "example.invalid"]

    @Test(arguments: [1, 2] as [UInt64])
    func `a replay prints what the recording printed, times included`(seed: UInt64) async throws {
        let (uplink, directory) = (try await Uplink.make(), try RecordingDirectory())
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
            // What cannot be done in this state is passed over.
            try? await uplink.ip(Self.change(chance(12), chance(9) + 1))
        }
        record.signal(SIGTERM)
        let result = try await record.result()
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        lines = result.lines.map(String.init)
        #expect(lines.count > 5)
        let replay = try await Command.run(["replay", "--json", "--paths", file])
        #expect(replay == CommandResult(status: 0, output: result.output, errors: ""))
        // With less to print, the same states at times that are as good.
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
    func `signals complete the file`(signal: CInt) async throws {
        let directory = try RecordingDirectory()
        let record = try await RunningCommand.start(["record", directory.file("a"), "127.0.0.1"])
        let line = try await record.line()
        record.signal(signal)
        #expect(try await record.result() == CommandResult(status: 0, output: line + "\n", errors: ""))
        let mode = try FileManager.default.attributesOfItem(atPath: directory.file("a"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let replay = try await Command.run(["replay", directory.file("a")])
        #expect(replay == CommandResult(status: 0, output: line + "\n", errors: ""))
    }

    @Test func `a file that is there stays, or is replaced on demand`() async throws {
        let directory = try RecordingDirectory()
        try directory.write(Array("mine".utf8), to: "a")
        let file = directory.file("a")
        let refusal = try await Command.run(["record", file, "127.0.0.1"])
        refusal.expectRefusal("cannot make \(file): File exists; --force replaces it", status: 73)
        #expect(try directory.bytes(of: "a") == Array("mine".utf8))
        let record = try await RunningCommand.start(["record", "--force", file, "127.0.0.1"])
        _ = try await record.line()
        record.signal(SIGINT)
        #expect(try await record.result().status == 0)
        #expect(try await Command.run(["replay", file]).lines.count == 1)
    }

    @Test func `what cannot be watched makes no file`() async throws {
        let directory = try RecordingDirectory()
        let file = directory.file("a")
        #expect(try await Command.run(["record", file, "x:1"]).status == 64)
        #expect(try await Command.run(["record", "--netns", "nowhere", file]).status == 64)
        #expect(try await Command.run(["record", "--limit", "many", file]).status == 64)
        #expect(!FileManager.default.fileExists(atPath: file))
        let missing = try await Command.run(["record", directory.file("b/a")])
        missing.expectRefusal("cannot make \(directory.file("b/a")): No such file or directory", status: 73)
    }

    @Test func `a host where the file belongs makes no file`() async throws {
        let directory = try RecordingDirectory()
        for words in [["example.org"], ["192.0.2.1", "trouble.nlrec"]] {
            let line = words.joined(separator: " ")
            let result = try await Command.run(script: "cd \(directory.path) && exec $R record \(line)")
            result.expectRefusal(
                "\"\(words[0])\" stands where the file to record into does: did you mean: reachability record trouble.nlrec"
                    + " \(line)? A file that does not end in .nlrec is written with a slash: ./\(words[0])"
            )
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        for file in ["a.nlrec", "./a"] {
            let script = "cd \(directory.path) && exec $R record \(file) 127.0.0.1"
            let record = try await RunningCommand.start(script: script)
            _ = try await record.line()
            record.signal(SIGTERM)
            #expect(try await record.result().status == 0)
            #expect(FileManager.default.fileExists(atPath: directory.file(file)))
        }
    }

    @Test func `a reader that goes away does not end a recording`() async throws {
        let (uplink, directory) = (try await Uplink.make(), try RecordingDirectory())
        let file = directory.file("a")
        let record = try await RunningCommand.start(["record", file], in: uplink.namespace)
        _ = try await record.line()
        await record.closeOutput()
        try await uplink.setConnected(false)
        // The change is in the file as soon as it is heard.
        #expect(
            try await eventually {
                try await Command.run(["replay", file]).lines.last?.hasSuffix("network: not reachable, no route")
                    == true
            }
        )
        record.signal(SIGTERM)
        let result = try await record.result()
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
    }

    @Test func `standard output that is full is told, and the recording goes on`() async throws {
        let directory = try RecordingDirectory()
        let script = """
            $R record \(directory.file("a")) 127.0.0.1 > /dev/full & pid=$!
            until $R replay \(directory.file("a")) 2>&- | grep -q reachable; do sleep 0.05; done
            kill -TERM $pid; wait $pid; echo $?
            """
        let result = try await Command.run(script: script)
        let failure = "reachability: cannot write to standard output: No space left on device"
        #expect(result.output == "74\n")
        #expect(result.errors == "\(failure); the recording goes on\n\(failure)\n")
        #expect(try await Command.run(["replay", directory.file("a")]).lines.count == 1)
    }

    @Test func `a full disk ends it, and what is there can be played`() async throws {
        let directory = try RecordingDirectory()
        // Of the 64 KiB there, the file gets fewer and fewer.
        let script = """
            mount -t tmpfs -o size=64k tmpfs \(directory.path) || exit
            ip link set lo up
            $R record --no-filter --quiet \(directory.file("a")) 127.0.0.1 & pid=$!
            while kill -0 $pid; do
                for i in $(seq 100); do echo route replace 198.51.100.$i dev lo; done | ip -batch -
                for i in $(seq 100); do echo route del 198.51.100.$i dev lo; done | ip -batch -
            done 2>&-
            wait $pid; echo $?
            $R replay \(directory.file("a")); echo $?
            """
        let result = try await RunningCommand.start(in: nil) {
            try LabProcess("unshare", ["--net", "--mount", "env", "R=\(Command.path)", "sh", "-c", script])
        }.result()
        #expect(result.lines.first == "74")
        #expect(result.lines.last == "65")
        #expect(result.lines.count == 3)
        let errors = result.errors.split(separator: "\n")
        #expect(errors.count == 2)
        #expect(errors.first?.hasPrefix("reachability: cannot write ") == true)
        #expect(errors.first?.contains(": No space left on device; its first ") == true)
        #expect(errors.last?.contains(" is damaged at byte ") == true)
    }

    @Test func `a limit without room for a recording is refused, and no file is made`() async throws {
        let namespace = try await LabThread.detached { try LabNamespace() }
        let directory = try RecordingDirectory()
        let file = directory.path + "/few.nlrec"
        let result = try await Command.run(["record", "--limit", "100", file], in: namespace)
        let least = try #require(result.errors.firstMatch(of: /: (\d+) bytes is the least\n$/)?.1)
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("reachability: --limit 100 has no room for a recording: "))
        let less = try #require(Int(least)) - 1
        #expect(try await Command.run(["record", "--limit", "\(less)", file], in: namespace).status == 64)
        #expect(access(file, F_OK) != 0)
        _ = try await Command.run(["record", "--limit", "\(least)", file], in: namespace)
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_size <= less + 1)
    }

    @Test func `the limit ends it with a whole file`() async throws {
        let (uplink, directory) = (try await Uplink.make(), try RecordingDirectory())
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

    @Test func `--redact leaves no name in the file`() async throws {
        let (uplink, directory) = (try await Uplink.make(), try RecordingDirectory())
        let file = directory.file("a")
        let words = ["record", "--redact", file, "203.0.113.9", "example.invalid"]
        let record = try await RunningCommand.start(words, in: uplink.namespace)
        _ = try await record.status(of: "203.0.113.9")
        record.signal(SIGTERM)
        let result = try await record.result()
        #expect(result.status == 0 && result.output.contains("192.0.2.1"))
        #expect(try directory.bytes(of: "a").firstRange(of: Array("example.invalid".utf8)) == nil)
        let replay = try await Command.run(["replay", file])
        #expect(replay.lines.count == result.lines.count && replay.errors.isEmpty)
    }
}
