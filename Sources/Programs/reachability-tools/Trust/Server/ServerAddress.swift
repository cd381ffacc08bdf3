import CommandLineSupport
import LinuxSupport
import ServerTrust

/// A host and a port, as they are given: `example.org`, `192.0.2.1:8443`, `2001:db8::1`, `[2001:db8::1]:443`.
struct ServerAddress: Hashable, Sendable {
    /// As it was written, without brackets.
    let host: String
    let port: Int

    /// What the name service is asked for, or the address with its zone.
    let destination: String

    /// - Throws: ``ExitMessage`` when the text is none, which is said in one sentence.
    init(_ text: String, defaultPort: Int = 443) throws(ExitMessage) {
        let (name, digits) = Self.parts(text)
        let refusal = ExitMessage(
            "\"\(text.printable)\" is no server: write example.org, 192.0.2.1:8443 or [2001:db8::1]:443, without scheme or path",
            .usage
        )
        guard let name, let server = try? ServerHost(name) else { throw refusal }
        if let digits {
            let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard isNumber, let number = Int(digits), (1...65535).contains(number) else { throw refusal }
            port = number
        } else {
            port = defaultPort
        }
        host = name
        destination = server.isAddress ? name : server.description
    }

    /// Two colons outside of brackets are an address.
    private static func parts(_ text: String) -> (host: String?, port: Substring?) {
        if text.hasPrefix("[") {
            guard let end = text.unicodeScalars.firstIndex(of: "]") else { return (nil, nil) }
            let host = text[text.unicodeScalars.index(after: text.startIndex)..<end]
            let rest = text[text.unicodeScalars.index(after: end)...]
            guard host.contains(":"), rest.isEmpty || rest.first == ":" else { return (nil, nil) }
            return (String(host), rest.isEmpty ? nil : rest.dropFirst())
        }
        guard let colon = text.unicodeScalars.firstIndex(of: ":"), text.unicodeScalars.lastIndex(of: ":") == colon
        else { return (text, nil) }
        return (String(text[..<colon]), text[text.unicodeScalars.index(after: colon)...])
    }
}

extension ServerAddress: CustomStringConvertible {
    /// As it is written on a command line.
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
