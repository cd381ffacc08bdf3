import LinuxSupport
import NIOHTTP1
import ReachabilityLedger

/// The JSON object in the body of a request, read strictly.
struct RequestObject {
    private let members: [String: JSONValue]

    /// - Parameter keys: Those it may have.
    /// - Throws: ``Problem`` for a body that is no such object.
    init(_ request: WebRequest, keys: [String]) throws(Problem) {
        guard case .object(let members)? = JSONValue(request.body) else {
            throw Problem(.badRequest, "the body is a JSON object with the keys \(keys.joined(separator: ", "))")
        }
        for key in members.keys.sorted() where !keys.contains(key) {
            let known = keys.joined(separator: ", ")
            throw Problem(.badRequest, "there is no key \"\(key.printable)\" here, only \(known)")
        }
        self.members = members
    }

    /// Nil for a key that is not there, or is null.
    func text(_ key: String) throws(Problem) -> String? {
        switch members[key] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw Problem(.badRequest, "\(key) is a text")
        }
    }

    /// Some texts; nil for a key that is not there, or is null.
    func texts(_ key: String) throws(Problem) -> [String]? {
        let wrong = Problem(.badRequest, "\(key) is a list of texts")
        switch members[key] {
        case nil, .null?: return nil
        case .array(let values)?:
            return try values.map { value throws(Problem) in
                guard case .string(let text) = value else { throw wrong }
                return text
            }
        default: throw wrong
        }
    }
}
