import LinuxSupport

/// The decision about an answer to a download, by its head (RFC 9110, sections 13.1.5, 14, 15.3.7, 15.5.17).
///
/// | Answer to `Range: bytes=N-` with `If-Range` | Then |
/// |---|---|
/// | 206 from N, same length and validator | continues |
/// | 206 from M < N | continues at M |
/// | 206 from above N, bad or no Content-Range, other length, other or no validator, several parts, a coding | starts over once |
/// | 206 to no Range | an error |
/// | 200 | starts over with this body |
/// | 412, and 416 but for the next line | starts over once |
/// | 416 with `bytes */N` | is complete |
/// | another status | is rejected; the part stays |
enum ResumeDecision: Hashable, Sendable {
    /// Write the body from this offset on, and cut off the rest. The total is the length of the whole file.
    case write(at: Int64, total: Int64?)
    /// The file is complete.
    case complete
    /// Delete the part, and request the whole file.
    case startOver(String)
    /// The server sends a part, although the whole file was requested.
    case unexpectedPart
    /// Keep the part. The answer is not a file.
    case refuse

    /// Creates the decision about an answer. The offset is nil if the whole file was requested.
    init(_ head: HTTPURLResponse, askedFrom offset: Int64?, of known: ResumeData?) {
        guard let offset, let known else {
            self = Self.whole(head)
            return
        }
        switch head.statusCode {
        case 206: self = Self.part(head, offset, known)
        case 412: self = .startOver("the file has changed on the server")
        case 416:
            if head.headers["Content-Range"].flatMap(ContentRange.init) == .unsatisfied(total: offset),
                known.total == nil || known.total == offset,
                known.total == nil ? known.isValidator(of: head) : known.mayBeValidator(of: head)
            {
                self = .complete
            } else {
                self = .startOver("the server has no such part of the file")
            }
        default: self = Self.whole(head)
        }
    }

    private static func whole(_ head: HTTPURLResponse) -> ResumeDecision {
        switch head.statusCode {
        case 206: .unexpectedPart
        case 200..<300: .write(at: 0, total: head.contentLength)
        default: .refuse
        }
    }

    private static func part(_ head: HTTPURLResponse, _ offset: Int64, _ known: ResumeData) -> ResumeDecision {
        guard head.contentEncoding == nil else { return .startOver("the part has a coding") }
        guard let field = head.headers["Content-Range"],
            case .part(let first, let last, let total)? = ContentRange(field)
        else { return .startOver("the part has no valid Content-Range") }
        guard first <= offset else { return .startOver("the part begins after the end of the existing part") }
        if let before = known.total, let total, before != total { return .startOver("the file has another length") }
        guard known.isValidator(of: head) else { return .startOver("the part is not proved to be of the same file") }
        if let length = head.contentLength, length != last - first + 1 {
            return .startOver("the part has another length than its Content-Range")
        }
        return .write(at: first, total: total ?? known.total)
    }
}

/// The part of a file in an answer: Content-Range (RFC 9110, section 14.4).
enum ContentRange: Hashable, Sendable {
    /// `bytes 0-9/100`, both ends counted; the total is nil for `*`.
    case part(first: Int64, last: Int64, total: Int64?)
    /// `bytes */100`: no part.
    case unsatisfied(total: Int64)

    init?(_ text: String) {
        var reader = FieldReader(text)
        guard reader.token()?.lowercased() == "bytes", reader.take(" ") else { return nil }
        reader.skipBlanks()
        if reader.take("*") {
            guard reader.take("/"), let total = reader.number(), reader.isDone else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        guard let first = reader.number(), reader.take("-"), let last = reader.number(), reader.take("/"),
            first <= last, last < .max
        else { return nil }
        if reader.take("*") {
            guard reader.isDone else { return nil }
            self = .part(first: first, last: last, total: nil)
            return
        }
        guard let total = reader.number(), last < total, reader.isDone else { return nil }
        self = .part(first: first, last: last, total: total)
    }
}

extension FieldReader {
    fileprivate var isDone: Bool {
        var reader = self
        reader.skipBlanks()
        return reader.isAtEnd
    }
}

/// The name that a server gives a file: Content-Disposition (RFC 6266).
struct ContentDisposition: Hashable, Sendable {
    /// `attachment` or `inline`, in lower case.
    let type: String
    /// The name as it was sent. The form that can contain every letter is preferred.
    let fileName: String?

    /// Reads a value; nil if it is damaged.
    init?(_ text: String) {
        var reader = FieldReader(text)
        guard let type = reader.token() else { return nil }
        self.type = type.lowercased()
        var names: [String: String] = [:]
        while let (name, value) = reader.parameter() { if names[name] == nil { names[name] = value } }
        fileName = names["filename*"].flatMap(Self.extended) ?? names["filename"]
    }

    /// A safe name in a directory: the part after the last `/` and `\`, without leading dots and control characters; nil if that is
    /// empty.
    var safeFileName: String? { fileName.flatMap(Self.safe) }

    static func safe(_ name: String) -> String? {
        let parts = name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
        let scalars = (parts.last ?? "".unicodeScalars[...]).filter {
            $0.properties.generalCategory != .control && $0 != "\0"
        }
        let text = String(String(String.UnicodeScalarView(scalars)).drop { $0 == "." || $0 == " " })
        return text.isEmpty || text.utf8.count > 255 ? nil : text
    }

    /// RFC 8187: `UTF-8'en'%e2%82%ac`
    private static func extended(_ text: String) -> String? {
        let parts = text.split(at: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        guard let bytes = parts[2].percentDecoded() else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
