import CommandLineSupport
import LinuxSupport
import ReachabilityOutbox
import ReachabilityRetry

/// What `--header` is given: a header, or `@` and a file with one a line, for arguments can be seen by other users.
struct HeaderArgument {
    let text: String

    var headers: [PlainRequest.Field] {
        get throws(ExitMessage) {
            guard text.hasPrefix("@") else { return [try Self.header(text)] }
            let content = String(
                decoding: try ArgumentFile.bytes(String(text.dropFirst()), limit: 1 << 20),
                as: UTF8.self
            )
            // To Swift, CR and LF together are one character.
            var headers: [PlainRequest.Field] = []
            for line in content.lines { headers.append(try Self.header(line)) }
            return headers
        }
    }

    private static func header(_ line: some StringProtocol) throws(ExitMessage) -> PlainRequest.Field {
        guard let colon = line.unicodeScalars.firstIndex(of: ":") else {
            throw ExitMessage("a header has no colon: write \"Name: value\"", .usage)
        }
        let value = line[line.unicodeScalars.index(after: colon)...].drop { $0 == " " }
        return PlainRequest.Field(name: String(line[..<colon]), value: String(value))
    }
}
