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
        /// What is written after `reachability` to have it.
        private(set) var path: [String] = []

        private enum CodingKeys: CodingKey {
            case commandName, discussion, subcommands, arguments
        }

        /// The path as one text: `outbox add`.
        var name: String { path.joined(separator: " ") }
        var testDescription: String { name }

        /// All below it, without `help`.
        var descendants: [Node] {
            (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { node in
                var node = node
                node.path = path + [node.commandName]
                return [node] + node.descendants
            }
        }

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

    /// The subcommands and what is below them, without `help`.
    static func subcommands() async throws -> [Node] {
        try await read().descendants
    }
}
