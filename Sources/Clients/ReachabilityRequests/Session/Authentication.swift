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
