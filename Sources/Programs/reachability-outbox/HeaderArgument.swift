import CommandLineSupport
import ReachabilityOutbox

/// What `--header` is given: a header, or `@` and a file with one a line, for arguments can be seen by other users.
struct HeaderArgument {
    let text: String

    var headers: [OutboxHeader] {
        get throws(ExitMessage) {
            guard text.hasPrefix("@") else { return [try Self.header(text)] }
            let content = String(
                decoding: try ArgumentFile.bytes(String(text.dropFirst()), limit: 1 << 20),
                as: UTF8.self
            )
            // To Swift, CR and LF together are one character.
            var headers: [OutboxHeader] = []
            for line in content.split(whereSeparator: \.isNewline) { headers.append(try Self.header(line)) }
            return headers
        }
    }

    private static func header(_ line: some StringProtocol) throws(ExitMessage) -> OutboxHeader {
        guard let colon = line.firstIndex(of: ":") else {
            throw ExitMessage("a header has no colon: write \"Name: value\"", .usage)
        }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        return OutboxHeader(String(line[..<colon]), String(value))
    }
}
