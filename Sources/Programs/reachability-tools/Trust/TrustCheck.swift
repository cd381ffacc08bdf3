import CommandLineSupport
import LinuxSupport
import ServerTrust

/// One thing that was looked at, and what came of it.
struct TrustCheck: Sendable {
    enum State: String, Sendable {
        case ok, failed
        /// Worth knowing; it does not decide.
        case note
    }

    let name: String
    let state: State
    let text: String

    init(_ name: String, _ state: State, _ text: String) {
        self.name = name
        self.state = state
        self.text = text.printable
    }

    /// Under a word of eight columns as those of `reachability why`.
    var lines: [String] {
        let word = state.rawValue
        return [word + String(repeating: " ", count: 8 - word.count) + Table.lines(name, [text])[0]]
    }

    var json: JSONObject {
        var object = JSONObject()
        object.add("check", name)
        object.add("state", state.rawValue)
        object.add("text", text)
        return object
    }
}

/// What came of judging a server.
struct TrustJudgement: Sendable {
    /// Nil if it is trusted.
    let reason: TrustFailure?
    /// Nil if there is none.
    let chain: ValidatedChain?
    /// The pattern of the policy file that decides; nil if there is none.
    let pattern: String?
    let checks: [TrustCheck]
}
