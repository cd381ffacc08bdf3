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
        let words = subcommand.words
        for arguments in [words + ["--help"], words + ["-h"], ["help"] + words] {
            try await expect(arguments, Self.expected(words.joined(separator: "-")))
        }
    }

    @Test(arguments: [["--version"], ["--version", "status"]])
    func `the version is a name and a number`(arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 0)
        #expect(result.output.wholeMatch(of: /reachability \d+\.\d+\.\d+\n/) != nil)
        #expect(result.errors.isEmpty)
    }

    @Test(arguments: [
        ["--bogus"], ["status", "--bogus"], ["watch", "--bogus"], ["status", "--flags"],
        ["status", "--netns"], ["watch", "--mark"], ["status", "--mark", "red"], ["status", "--mark", "-1"],
        ["status", "--mark", "0x100000000"], ["status", "--mark", ""], ["status", "--mark", "0x"],
    ])
    func `what is no option is refused`(arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: "))
    }

    private func expect(_ arguments: [String], _ text: String) async throws {
        #expect(try await Command.run(arguments) == CommandResult(status: 0, output: text, errors: ""))
    }
}
