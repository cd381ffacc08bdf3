import Glibc
package import NetworkReachability

/// A failure that ends the command: one sentence for standard error, and the exit status.
package struct ExitMessage: Error {
    /// Statuses of `sysexits(3)`.
    package enum Status: CInt {
        case usage = 64
        case dataError = 65
        case noInput = 66
        case unavailable = 69
        case cantCreate = 73
        case ioError = 74
        case temporaryFailure = 75
        case noPermission = 77
        case configuration = 78
    }

    package let text: String
    package let status: Status

    package init(_ text: String, _ status: Status) {
        self.text = text
        self.status = status
    }

    package init(_ error: NetworkReachabilityError) {
        let status: Status =
            switch error {
            case .capabilityRequired: .noPermission
            default: .usage
            }
        self.init(error.description, status)
    }
}
