import Crypto
import LinuxSupport
import NIOHTTP1
import ReachabilityService
import ServerTrust

/// The token that a request carries: behind `Bearer` (RFC 6750), or as the password of `Basic` (RFC 7617), whoever the user is, for
/// browsers. It is never taken from an address, which others may see.
struct PresentedToken {
    /// Nil for something that is neither.
    private let bytes: [UInt8]?

    /// Nil where the request carries none.
    init?(_ headers: HTTPHeaders) {
        let fields = headers["Authorization"]
        guard let field = fields.first else { return nil }
        bytes = fields.count == 1 ? Self.read(field) : nil
    }

    private static func read(_ field: String) -> [UInt8]? {
        let parts = field.split(at: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let content = parts[1].drop { $0 == " " }
        switch parts[0].lowercased() {
        case "bearer": return Array(content.utf8)
        case "basic":
            guard let pair = Base64.decode(content), let colon = pair.firstIndex(of: UInt8(ascii: ":")) else {
                return nil
            }
            return Array(pair[(colon + 1)...])
        default: return nil
        }
    }

    /// Which of these it is. Hashes are compared, so the time that takes tells nothing of the token.
    func known(among tokens: [AccessSettings.Token]) -> AccessSettings.Token? {
        guard let bytes else { return nil }
        let digest = Array(SHA256.hash(data: bytes))
        return tokens.first { $0.digest == digest }
    }
}
