import ArgumentParser
import CommandLineSupport
import Crypto
import LinuxSupport
import ReachabilityService
import ServerTrust

/// `reachability serve token`: makes something that only its owner knows, and what the service recognises it by.
struct TokenCommand: ParsableCommand {
    static let configuration = TokenArguments.configuration

    @OptionGroup var arguments: TokenArguments

    func validate() throws {
        guard AccessSettings.Scope(rawValue: arguments.scope) != nil else {
            throw ValidationError("The scope is read or admin, not \"\(arguments.scope.printable)\".")
        }
        guard AccessSettings.Token.isName(arguments.name) else {
            throw ValidationError("A name has from 1 to 64 bytes, none of them a control character.")
        }
    }

    func run() {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        // Of the alphabet for addresses (RFC 4648, section 5), so that no shell and no header takes a sign for another.
        let text = Base64.encode(secret).replacing(scalars: "+", with: "-").replacing(scalars: "/", with: "_")
            .replacing(scalars: "=", with: "")
        let token = "rt_\(text)"
        let digest = SHA256.hash(data: Array(token.utf8)).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        let name = arguments.name.replacing(scalars: "\\", with: "\\\\").replacing(scalars: "\"", with: "\\\"")
        let lines = [
            token, "", "[[access.tokens]]", "name = \"\(name)\"", "sha256 = \"\(digest.joined())\"",
            "scope = \"\(arguments.scope)\"",
        ]
        for line in lines { StandardOutput.write(text: line) }
    }
}
