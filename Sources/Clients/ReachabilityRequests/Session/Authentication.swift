import FoundationEssentials
import LinuxSupport

/// A name and a password for servers that require authentication. It stands for Foundation's class of this name.
public struct URLCredential: Hashable, Sendable {
    /// How long a credential is kept. Here it is kept with its request.
    public enum Persistence: UInt, Hashable, Sendable {
        /// For one request.
        case none = 0
        /// For the session.
        case forSession = 1
        /// For ever, on this machine.
        case permanent = 2
        /// For ever, on all machines of the user.
        case synchronizable = 3
    }

    /// The name.
    public let user: String?
    /// The password.
    public let password: String?
    /// How long the credential is kept.
    public let persistence: Persistence

    /// A credential.
    public init(user: String, password: String, persistence: Persistence) {
        self.user = user
        self.password = password
        self.persistence = persistence
    }

    /// Whether there is a password.
    public var hasPassword: Bool { password != nil }
}

extension URLCredential: CustomStringConvertible, CustomReflectable {
    /// The name, without the password.
    public var description: String { "\(user ?? ""): (redacted)" }

    /// The name, without the password.
    public var customMirror: Mirror { Mirror(self, children: ["user": user ?? ""]) }
}

/// A server requires authentication, and there is a credential for it.
struct AuthenticationChallenge: Error {}

/// The place for authentication schemes: a scheme answers the challenges of WWW-Authenticate that it knows (RFC 9110, section 11.6.1).
extension URLCredential {
    /// The value of Authorization that answers a 401; nil if none of the server's schemes is known, or the same answer was rejected.
    ///
    /// - Parameters:
    ///   - head: The answer.
    ///   - request: The request as it was sent.
    func authorization(answering head: HTTPURLResponse, to request: URLRequest) -> String? {
        guard let field = head.headers["WWW-Authenticate"] else { return nil }
        let schemes = AuthenticationScheme.names(in: field)
        guard schemes.contains("basic") else { return nil }
        let value = HTTPHeader.authorization(username: user ?? "", password: password ?? "").value
        return request.headers["Authorization"] == value ? nil : value
    }
}

/// The challenges of a WWW-Authenticate field.
enum AuthenticationScheme {
    /// The names of the schemes in lower case. A scheme is a token that no `=` follows.
    static func names(in field: String) -> Set<String> {
        var names: Set<String> = []
        var reader = FieldReader(field)
        while !reader.isAtEnd {
            if let token = reader.token() {
                let isParameter = reader.take("=")
                if isParameter { _ = reader.quoted() ?? reader.token() } else { names.insert(token.lowercased()) }
            } else if reader.quoted() == nil {
                reader.skip()
            }
            reader.skipBlanks()
        }
        return names
    }
}
