import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityRequests

extension ExitMessage {
    /// Why there is no file.
    ///
    /// - Parameter replacing: Whether one that is there was to be replaced.
    init(_ error: RequestError, replacing: Bool) {
        switch error {
        case .fileExists(let path):
            let remedy = replacing ? "and is no file" : "--force replaces it"
            self.init("\(path) is there already\(replacing ? ", " : ": ")\(remedy)", .cantCreate)
        case .downloadedFileMoveFailed(let cause as SystemError, _, let path) where cause == .fileExists:
            self.init("\(path) came meanwhile: --force replaces it", .cantCreate)
        case .responseValidationFailed(.customValidationFailed(let cause as OtherDigest)):
            self.init("this is another file: \(cause)", .dataError)
        default: self.init("\(error)", Self.status(of: error))
        }
    }

    private static func status(of error: RequestError) -> Status {
        switch error {
        case .downloadBusy: .temporaryFailure
        case .downloadedFileMoveFailed: .ioError
        case .downloadedFileWriteFailed(let cause, _):
            (cause as? SystemError)?.isOfDisk == true ? .ioError : .cantCreate
        case .invalidURL: .usage
        default: .unavailable
        }
    }
}

extension SystemError {
    /// Whether the disk is full or broken; else the place is none for files.
    fileprivate var isOfDisk: Bool {
        [.noSpace, .fileTooLarge, .init(rawValue: EDQUOT), .init(rawValue: EIO)].contains(self)
    }
}
