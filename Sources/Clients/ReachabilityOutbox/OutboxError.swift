/// Why an outbox cannot do what it was asked for.
public enum OutboxError: Error, Hashable, Sendable {
    /// The request has no valid form. The text has no secrets.
    case invalidRequest(String)
    /// There is no room for the request, and none may be made; `limit` says which limit it is.
    case full(file: String, limit: String)
    /// The disk is full, or a quota or limit of the file's size is reached. Nothing was changed.
    case diskFull(file: String)
    /// The file is damaged. It was set aside as `keptAs`, with what SQLite keeps beside it; nil when it lies where it was,
    /// because it was only read, was found to be so while in use, or because a process uses it to send.
    case corrupt(file: String, keptAs: String?)
    /// What lies there is no outbox: it has not the header of one (`PRAGMA application_id` of an SQLite database). It was not
    /// touched.
    case foreignFile(String)
    /// A later version of this library has written the file. It was not touched.
    case newerFormat(String)
    /// The file cannot be opened or made; `cause` is what the system said.
    case cannotOpen(file: String, cause: String)
    /// Another process, or another outbox of this one, is sending what is in the file.
    case alreadySending(file: String)
    /// Other processes kept the file locked for half a minute.
    case busy(file: String)
    /// Reading or writing failed; `cause` is what SQLite said.
    case failed(file: String, cause: String)
}

extension OutboxError: CustomStringConvertible {
    /// One sentence: what was tried, what is wrong, and what to do.
    public var description: String {
        switch self {
        case .invalidRequest(let text):
            "cannot store the request: \(text)"
        case .full(let file, let limit):
            "the outbox \(file) is full (\(limit)): send or drop what is in it, or allow more"
        case .diskFull(let file):
            "cannot write to the outbox \(file): No space left on device: make room and try again, nothing was changed"
        case .corrupt(let file, let keptAs?):
            "the outbox \(file) is corrupt and was kept as \(keptAs): restore it, or ask for a new one to be begun"
        case .corrupt(let file, nil):
            "the outbox \(file) is corrupt and was left as it is: end the processes that use it, then send or add, which sets it aside"
        case .foreignFile(let file):
            "\(file) is not an outbox, or its header is damaged: it was left as it is; name another file, or move it away"
        case .newerFormat(let file):
            "the outbox \(file) was written by a later version: use that, or name another file"
        case .cannotOpen(let file, let cause):
            "cannot open the outbox \(file): \(cause)"
        case .alreadySending(let file):
            "another process is sending what is in the outbox \(file): leave it to that, or end it first"
        case .busy(let file):
            "the outbox \(file) is locked by other processes: try again"
        case .failed(let file, let cause):
            "cannot read or write the outbox \(file): \(cause)"
        }
    }
}
