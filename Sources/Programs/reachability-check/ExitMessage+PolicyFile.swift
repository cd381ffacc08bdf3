import CommandLineSupport
import LinuxPrimitives
import ServerTrust

extension ExitMessage {
    init(_ error: TrustPolicyFileError) {
        let status: Status =
            switch error {
            case .unreadable, .unreadableFile: .noInput
            case .wrong: .dataError
            }
        self.init(error.description.printable, status)
    }
}
