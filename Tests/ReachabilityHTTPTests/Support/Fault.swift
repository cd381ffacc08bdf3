/// What the server does with a request, as told by its field `X-Fault`.
enum Fault: Hashable, Sendable {
    /// Answers with a status, and with a Retry-After if there is one.
    case answer(Int, retryAfter: String? = nil)
    /// Answers with a body of so many bytes.
    case body(Int, status: Int = 200)
    /// Leads to another URL with this status.
    case redirect(Int, to: String)
    /// Resets the connection when the head of the request is there.
    case resetBeforeHead
    /// Takes the request, and resets the connection.
    case resetAfterBody
    /// Takes the request, and closes the connection without an answer.
    case closeAfterBody
    /// Takes the request, answers by halves, and resets the connection.
    case resetMidBody
    /// Answers with this status and a part of a body, and never with the rest.
    case stall(status: Int)
    /// Takes the request, and never answers.
    case hang
    /// Takes the request, and answers after some milliseconds.
    case slow(Int)
    /// Answers what is no HTTP.
    case garbage
    /// Not the server's doing: the attempt goes to a port where nobody listens.
    case refuse
    /// Not the server's doing: the attempt goes to a name that does not exist.
    case noName
}

extension Fault {
    /// A URL with a host that no name server is asked for: a label has 63 letters at most (RFC 1035, section 2.3.4).
    static let nameless = "http://\(String(repeating: "n", count: 64)).invalid/"

    /// As a header field.
    var text: String {
        switch self {
        case .answer(let status, let retryAfter): "answer/\(status)/\(retryAfter ?? "")"
        case .body(let count, let status): "body/\(count)/\(status)"
        case .stall(let status): "stall/\(status)"
        case .redirect(let status, let url): "redirect/\(status)/\(url)"
        case .slow(let milliseconds): "slow/\(milliseconds)"
        default: "\(self)"
        }
    }

    init(_ text: String) {
        let words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let numbers = words.map { Int($0) ?? 0 } + [0, 0]
        self =
            switch words[0] {
            case "answer": .answer(numbers[1], retryAfter: words[2].isEmpty ? nil : words[2])
            case "body": .body(numbers[1], status: numbers[2])
            case "stall": .stall(status: numbers[1])
            case "redirect": .redirect(numbers[1], to: words.dropFirst(2).joined(separator: "/"))
            case "slow": .slow(numbers[1])
            case "resetBeforeHead": .resetBeforeHead
            case "resetAfterBody": .resetAfterBody
            case "closeAfterBody": .closeAfterBody
            case "resetMidBody": .resetMidBody
            case "hang": .hang
            case "garbage": .garbage
            default: .answer(200)
            }
    }
}
