/// What is done with an answer to a download, by its head alone (RFC 9110, sections 13.1.5, 14, 15.3.7, 15.5.17).
///
/// | Answer to `Range: bytes=N-` with `If-Range` | Then |
/// |---|---|
/// | 206 from N, same length and validator | goes on |
/// | 206 from M < N | goes on at M |
/// | 206 from above N, bad or no Content-Range, other length, other or no validator, several parts, a coding | starts over once |
/// | 206 to no Range | an error |
/// | 200 | starts over with this body |
/// | 412, and 416 but for the next line | starts over once |
/// | 416 with `bytes */N` | is complete |
/// | another status | is refused by the validation; what is there stays |
enum ResumeDecision: Hashable, Sendable {
    /// Write the body from this place on; what is behind it is cut off. The total is what the whole file will have.
    case write(at: Int64, total: Int64?)
    /// Everything is here.
    case complete
    /// Throw away what is here, and ask again without Range.
    case startOver(String)
    /// The server sends a part of what was asked for as a whole.
    case unexpectedPart
    /// Neither of these: what is here stays.
    case refuse

    /// - Parameters:
    ///   - head: The answer.
    ///   - offset: From where on it was asked for; nil where all was.
    ///   - known: What is known of the file.
    init(_ head: ResponseHead, askedFrom offset: Int64?, of known: ResumeData?) {
        guard let offset, let known else {
            self = Self.whole(head)
            return
        }
        switch head.statusCode {
        case 206: self = Self.part(head, offset, known)
        case 412: self = .startOver("the server says that the file has changed")
        case 416:
            if head.headers["Content-Range"].flatMap(ContentRange.init) == .unsatisfied(total: offset),
                known.mayBeValidator(of: head),
                known.total == nil || known.total == offset
            {
                self = .complete
            } else {
                self = .startOver("the server has no such part of the file")
            }
        default: self = Self.whole(head)
        }
    }

    private static func whole(_ head: ResponseHead) -> ResumeDecision {
        switch head.statusCode {
        case 206: .unexpectedPart
        case 200..<300: .write(at: 0, total: head.expectedContentLength)
        default: .refuse
        }
    }

    private static func part(_ head: ResponseHead, _ offset: Int64, _ known: ResumeData) -> ResumeDecision {
        guard head.contentEncoding == nil else { return .startOver("the part has a coding") }
        guard let field = head.headers["Content-Range"],
            case .part(let first, let last, let total)? = ContentRange(field)
        else { return .startOver("the part does not say which it is") }
        guard first <= offset else { return .startOver("the part begins behind the end of what is here") }
        if let before = known.total, let total, before != total { return .startOver("the file has another length") }
        guard known.isValidator(of: head) else { return .startOver("the part is not shown to be of the same file") }
        if let length = head.expectedContentLength, length != last - first + 1 {
            return .startOver("the part is not as long as it says")
        }
        return .write(at: first, total: total ?? known.total)
    }
}
