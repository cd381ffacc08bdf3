/// What a server did that makes no file.
enum DownloadFailure: Error, CustomStringConvertible {
    case brokenOff(any Error)
    case tooLong(Int64)
    case tooShort(Int64, of: Int64)
    case unexpectedPart
    case startOver(String)

    var description: String {
        switch self {
        case .brokenOff(let error): "the connection broke off: \(error)"
        case .tooLong(let total): "the server promised \(total) bytes and sends more"
        case .tooShort(let size, let total): "the server promised \(total) bytes and ended after \(size)"
        case .unexpectedPart: "the server sends a part of the file where all of it was asked for"
        case .startOver(let reason): "what is here cannot be gone on with: \(reason)"
        }
    }
}

extension DownloadFailure {
    /// Whether the rest may come when it is asked for.
    var mayGoOn: Bool {
        switch self {
        case .brokenOff, .tooShort: true
        case .tooLong, .unexpectedPart, .startOver: false
        }
    }
}
