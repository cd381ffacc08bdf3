import Crypto
import LinuxSupport

/// A name and a password for servers that require authentication. It stands for Foundation's class of this name.
public struct URLCredential: Hashable, Sendable {
    /// The lifetime of a credential. In this library a credential is kept with its request.
    public enum Persistence: UInt, Hashable, Sendable {
        /// The credential is used for one request.
        case none = 0
        /// The credential is kept for the session.
        case forSession = 1
        /// The credential is kept permanently on this machine.
        case permanent = 2
        /// The credential is kept permanently on all machines of the user.
        case synchronizable = 3
    }

    /// The user name.
    public let user: String?
    /// The password.
    public let password: String?
    /// The lifetime of the credential.
    public let persistence: Persistence

    /// Creates a credential.
    public init(user: String, password: String, persistence: Persistence) {
        self.user = user
        self.password = password
        self.persistence = persistence
    }

    /// A Boolean value that indicates whether there is a password.
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

/// The answers to challenges of one server: Basic (RFC 7617) and Digest (RFC 7616).
///
/// Of several challenges the first that is supported is used, Digest before Basic, as RFC 7616, section 3.7, recommends.
struct ChallengeResponder: Sendable {
    private let user: String
    private let password: String
    /// The challenge that was answered last, and how many requests used its nonce.
    private var digest: (challenge: DigestChallenge, count: UInt32)?
    private var usesBasic = false
    /// The maximum number of challenges that are answered. Otherwise a server that declares each nonce stale would receive requests without end.
    private var remaining = 3

    init(_ credential: URLCredential) {
        (user, password) = (credential.user ?? "", credential.password ?? "")
    }

    /// Takes the challenges of a 401 response. Returns whether another request can succeed: the challenge is new, or the server says
    /// that the nonce is stale. A second challenge without that means that the credential is wrong.
    mutating func accept(_ field: String) -> Bool {
        guard remaining > 0 else { return false }
        remaining -= 1
        let challenges = OfferedScheme.challenges(in: field)
        if let offered = challenges.lazy.compactMap(DigestChallenge.init).first {
            let isNew = digest == nil || offered.isStale
            digest = (offered, 0)
            return isNew
        }
        guard digest == nil, !usesBasic, challenges.contains(where: { $0.scheme == "basic" }) else { return false }
        usesBasic = true
        return true
    }

    /// Returns the value of `Authorization` for the next request; nil before a challenge.
    ///
    /// - Parameters:
    ///   - method: The method of the request, in its case.
    ///   - target: The request target: the path and the query as they are sent.
    ///   - clientNonce: A random text.
    mutating func authorization(method: String, target: String, clientNonce: String = Self.randomNonce()) -> String? {
        guard let (challenge, count) = digest else {
            return usesBasic ? HTTPHeader.authorization(username: user, password: password).value : nil
        }
        digest = (challenge, count + 1)
        return challenge.authorization(
            user: user,
            password: password,
            method: method,
            target: target,
            count: count + 1,
            clientNonce: clientNonce
        )
    }

    /// Returns 128 random bits as text.
    static func randomNonce() -> String {
        UInt64.random(in: .min ... .max).hexadecimal + UInt64.random(in: .min ... .max).hexadecimal
    }
}

/// A challenge of the scheme Digest that can be answered.
///
/// Source: RFC 7616. Without `qop` the answer is that of RFC 2069. The quality `auth-int` and the algorithm SHA-512-256 are not supported.
struct DigestChallenge: Sendable {
    private enum Algorithm: String {
        case md5 = "md5"
        case sha256 = "sha-256"

        func callAsFunction(_ text: String) -> String {
            let bytes = Array(text.utf8)
            return switch self {
            case .md5: Insecure.MD5.hash(data: bytes).hexadecimal()
            case .sha256: SHA256.hash(data: bytes).hexadecimal()
            }
        }
    }

    private let realm: String
    private let nonce: String
    private let opaque: String?
    private let algorithmName: String?
    private let hash: Algorithm
    private let isSession: Bool
    private let hasQuality: Bool
    private let hashesUser: Bool
    /// A Boolean value that indicates whether the server refused the nonce, not the credential.
    let isStale: Bool

    /// Returns nil for another scheme, an incomplete challenge or an algorithm that is not supported.
    init?(_ challenge: OfferedScheme) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let realm = parameters["realm"], let nonce = parameters["nonce"] else {
            return nil
        }
        let name = parameters["algorithm"]?.lowercased() ?? "md5"
        isSession = name.hasSuffix("-sess")
        guard let hash = Algorithm(rawValue: isSession ? String(name.dropLast(5)) : name) else { return nil }
        let qualities = parameters["qop"]?.split(at: ",").flatMap(\.words).map { $0.lowercased() }
        guard qualities?.contains("auth") ?? !isSession else { return nil }
        hasQuality = qualities != nil
        (self.realm, self.nonce, self.hash) = (realm, nonce, hash)
        opaque = parameters["opaque"]
        algorithmName = parameters["algorithm"]
        hashesUser = parameters["userhash"]?.lowercased() == "true"
        isStale = parameters["stale"]?.lowercased() == "true"
    }

    fileprivate func authorization(
        user: String,
        password: String,
        method: String,
        target: String,
        count: UInt32,
        clientNonce: String
    ) -> String {
        var secret = hash("\(user):\(realm):\(password)")
        if isSession { secret = hash("\(secret):\(nonce):\(clientNonce)") }
        let request = hash("\(method):\(target)")
        let response =
            hasQuality
            ? hash("\(secret):\(nonce):\(count.hexadecimal):\(clientNonce):auth:\(request)")
            : hash("\(secret):\(nonce):\(request)")

        var text = "Digest "
        if hashesUser {
            text += "username=\(quoted(hash("\(user):\(realm)"))), userhash=true"
        } else if user.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) {
            text += "username=\(quoted(user))"
        } else {
            // RFC 8187.
            text += "username*=UTF-8''\(user.percentEncoded)"
        }
        text += ", realm=\(quoted(realm)), nonce=\(quoted(nonce)), uri=\(quoted(target)), response=\(quoted(response))"
        if let algorithmName { text += ", algorithm=\(algorithmName)" }
        if let opaque { text += ", opaque=\(quoted(opaque))" }
        if hasQuality { text += ", qop=auth, nc=\(count.hexadecimal), cnonce=\(quoted(clientNonce))" }
        return text
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing(scalars: "\\", with: "\\\\").replacing(scalars: "\"", with: "\\\"") + "\""
    }
}
