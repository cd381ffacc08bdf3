import Foundation
import NetworkLab
import Testing

/// `reachability replay`: recordings of the past print what they always printed.
@Suite struct ReplayTests {
    private static let recordings = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Recordings").path

    @Test(arguments: ["links", "batches", "places"])
    func `a recording of the past prints the same`(name: String) async throws {
        let output = try String(contentsOfFile: "\(Self.recordings)/\(name).jsonl", encoding: .utf8)
        let result = try await Command.run(["replay", "--json", "--paths", "\(Self.recordings)/\(name).nlrec"])
        #expect(result == CommandResult(status: 0, output: output, errors: ""))
    }

    @Test func `a file that is cut off or damaged is played up to the last whole turn`() async throws {
        let directory = try RecordingDirectory()
        let whole = Array(try Data(contentsOf: URL(fileURLWithPath: "\(Self.recordings)/links.nlrec")))
        let output = try await Command.run(["replay", "\(Self.recordings)/links.nlrec"]).output
        var wrong = whole
        wrong[whole.count / 2] ^= 1
        try directory.write(wrong, to: "wrong")
        try directory.write(whole.prefix(whole.count / 2), to: "cut")
        for (name, cause) in [("wrong", "has another checksum"), ("cut", "is cut off")] {
            let result = try await Command.run(["replay", directory.file(name)])
            #expect(result.status == 65)
            #expect(!result.output.isEmpty && output.hasPrefix(result.output) && output != result.output)
            let start = "reachability: \(directory.file(name)) is damaged at byte "
            #expect(result.errors.hasPrefix(start) && result.errors.hasSuffix(": the record there \(cause)\n"))
        }
    }

    @Test func `what is no recording is refused`() async throws {
        let directory = try RecordingDirectory()
        try directory.write(Array("PNG".utf8), to: "a")
        let refusal = try await Command.run(["replay", directory.file("a")])
        refusal.expectRefusal("cannot replay \(directory.file("a")): it is not a recording", status: 65)
        try directory.write([0x89] + Array("NLREC\r\n".utf8) + [1, 1, 0, 0, 0, 0, 0], to: "old")
        let old = try await Command.run(["replay", directory.file("old")])
        let reason = "an older version of this command made it; record again"
        old.expectRefusal("cannot read \(directory.file("old")): \(reason)", status: 65)
        let missing = try await Command.run(["replay", directory.file("b")])
        missing.expectRefusal("cannot read \(directory.file("b")): No such file or directory", status: 66)
        #expect(try await Command.run(["replay"]).status == 64)
        #expect(try await Command.run(["replay", "--speed", "0", directory.file("a")]).status == 64)
    }

    @Test func `--redact-to makes a copy that plays the same states`() async throws {
        let directory = try RecordingDirectory()
        let (file, copy) = ("\(Self.recordings)/links.nlrec", directory.file("copy"))
        let made = try await Command.run(["replay", "--redact-to", copy, file])
        #expect(made == CommandResult(status: 0, output: "", errors: ""))
        let (one, other) = (try await Command.run(["replay", file]), try await Command.run(["replay", copy]))
        #expect(other.status == 0)
        #expect(other.errors.isEmpty)
        #expect(other.lines.map { $0.prefix(24) }.sorted() == one.lines.map { $0.prefix(24) }.sorted())
        #expect(!other.output.contains(" 8.8.8.8:"))
        let again = try await Command.run(["replay", "--redact-to", copy, file])
        again.expectRefusal("cannot make \(copy): File exists", status: 73)
    }

    @Test func `--speed keeps the pauses`() async throws {
        let file = "\(Self.recordings)/batches.nlrec"
        let start = ContinuousClock.now
        let slow = try await Command.run(["replay", "--speed", "4", file])
        #expect(ContinuousClock.now - start > .milliseconds(500))
        #expect(try await Command.run(["replay", file]) == slow)
    }
}
