import Netlink
import NetlinkRecording

/// Finds what comes nearest to a question that was never asked.
struct SimilarQuestions {
    private var questions: [NetlinkRequest.Subject: [RecordedTurns.Entry]] = [:]

    init(_ recorded: RecordedTurns) {
        for (question, entries) in recorded.entries where question.subject == .netlink {
            switch NetlinkRequest(question.detail).subject {
            case .route(let address, let wantsEntry):
                questions[.route(address, wantsEntry: wantsEntry), default: []] += entries
            case .allLinks:
                questions[.allLinks, default: []] += entries
            default: break
            }
        }
        // By time, whatever the order of a dictionary is.
        questions = questions.mapValues { $0.sorted { ($0.turn, $0.time) < ($1.turn, $1.time) } }
    }

    /// The answer to a like question up to `turn`, or else after it: a lookup of the same destination, or a link out of a list
    /// of all of them.
    func answer(to request: NetlinkRequest, in turn: Int) -> RecordedTurns.Entry? {
        switch request.subject {
        case .route: return nearest(questions[request.subject], turn)
        case .link(let index):
            guard var entry = nearest(questions[.allLinks], turn), case .success(let list) = entry.outcome else {
                return nil
            }
            guard let link = NetlinkMessages.link(index, in: list) else { return nil }
            var encoder = ByteEncoder()
            encoder.add(Result<[UInt8], NetlinkError>.success(link))
            entry.answer = encoder.bytes
            return entry
        case .allLinks, .nextHop, .other: return nil
        }
    }

    private func nearest(_ entries: [RecordedTurns.Entry]?, _ turn: Int) -> RecordedTurns.Entry? {
        entries?.last { $0.turn <= turn } ?? entries?.first
    }
}
