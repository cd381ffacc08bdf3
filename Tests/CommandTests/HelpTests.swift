import Foundation
import Testing

/// Help is part of the interface: each text is compared whole.
@Suite struct HelpTests {
    /// What is expected lies beside this file, one text for each subcommand, and `reachability.txt` for the root.
    private static func expected(_ name: String) throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Help/\(name).txt")
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test(arguments: [[], ["--help"], ["-h"], ["help"]])
    func `the root tells what there is`(arguments: [String]) async throws {
        try await expect(arguments, Self.expected("reachability"))
    }

    @Test(arguments: Subcommand.all)
    func `a subcommand tells its options and exit statuses`(subcommand: Subcommand) async throws {
        let text = try Self.expected(subcommand.words.joined(separator: "-"))
        try await expect(subcommand.words + ["--help"], text)
        // One of `reachability` itself, and one of a group.
        guard ["watch", "outbox add"].contains(subcommand.name) else { return }
        try await expect(subcommand.words + ["-h"], text)
        try await expect(["help"] + subcommand.words, text)
    }

    @Test func `each text fits a screen of 80 columns`() throws {
        for name in ["reachability"] + Subcommand.all.map({ $0.words.joined(separator: "-") }) {
            for line in try Self.expected(name).split(separator: "\n") { #expect(line.count <= 80, "\(name): \(line)") }
        }
    }

    @Test(arguments: [["--version"], ["--version", "status"]])
    func `the version is a name and a number`(arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 0)
        #expect(result.output.wholeMatch(of: /reachability \d+\.\d+\.\d+\n/) != nil)
        #expect(result.errors.isEmpty)
    }

    private func expect(_ arguments: [String], _ text: String) async throws {
        #expect(try await Command.run(arguments) == CommandResult(status: 0, output: text, errors: ""))
    }
}
