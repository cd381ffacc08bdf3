import Foundation
import Testing

/// What the binary says of its own subcommands and their options.
struct CommandTree: Decodable {
    let command: Node

    struct Node: Decodable, Sendable, CustomTestStringConvertible {
        let commandName: String
        let discussion: String?
        let subcommands: [Node]?
        let arguments: [Argument]?

        var testDescription: String { commandName }

        /// The paragraph of help that begins so, without that beginning.
        func paragraph(_ beginning: String) -> String? {
            guard let discussion, let start = discussion.firstRange(of: beginning)?.upperBound else { return nil }
            let lines = discussion[start...].split(separator: "\n", omittingEmptySubsequences: false)
            let next = lines.dropFirst().firstIndex { $0.firstMatch(of: #/^[A-Z][a-z ]+: /#) != nil } ?? lines.endIndex
            return lines[..<next].joined(separator: "\n")
        }
    }

    struct Argument: Decodable, Sendable {
        let kind: String
        let valueName: String
        let preferredName: Name?

        struct Name: Decodable, Sendable {
            let kind: String
            let name: String
        }

        /// As it is written: `--settle`.
        var option: String? { preferredName.map { ($0.kind == "long" ? "--" : "-") + $0.name } }
    }

    /// Asks the binary.
    static func read() async throws -> Node {
        let result = try await Command.run(["--experimental-dump-help"])
        #expect(result.status == 0)
        return try JSONDecoder().decode(CommandTree.self, from: Data(result.output.utf8)).command
    }

    /// The subcommands alone, without `help`.
    static func subcommands() async throws -> [Node] {
        try await read().subcommands?.filter { $0.commandName != "help" } ?? []
    }
}
