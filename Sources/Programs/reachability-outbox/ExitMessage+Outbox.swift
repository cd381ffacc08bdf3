import CommandLineSupport
import ReachabilityOutbox

extension ExitMessage {
    init(_ error: OutboxError) {
        let status: Status =
            switch error {
            case .invalidRequest: .usage
            case .full, .alreadySending, .busy: .temporaryFailure
            case .corrupt, .foreignFile, .newerFormat: .dataError
            case .cannotOpen: .noInput
            case .diskFull, .failed: .ioError
            }
        self.init(error.description, status)
    }
}
