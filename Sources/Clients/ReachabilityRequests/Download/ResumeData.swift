import LinuxSupport
import ReachabilityRetry

/// What is known of a file of which a part is here: enough to ask for the rest of it, and for nothing else. It has no credentials.
public struct ResumeData: Codable, Hashable, Sendable {
    /// The URL as the caller gave it, without name, password and fragment.
    public let url: String
    /// The strong entity tag (RFC 9110, section 8.8.3), or the date of the last change where that is a strong validator.
    public let validator: String
    /// How many bytes the whole file has; nil where that was not said.
    public let total: Int64?
    /// Which start of the machine the file was written in (`boot_id` of random(4)); nil where that is not known. After another start only
    /// what had been brought to the disk is there for certain.
    public internal(set) var boot: String?

    /// What is known.
    public init(url: String, validator: String, total: Int64?) {
        self.url = url
        self.validator = validator
        self.total = total
    }

    /// Nil where it is not told.
    static let currentBoot = SystemClock.bootIdentifier

    /// From the head of an answer with the whole file; nil where the file can not be gone on with.
    ///
    /// A weak entity tag says that files mean the same, not that they are the same. A date is strong where the answer's own
    /// Date is a minute or more after it (RFC 9110, section 8.8.2.2).
    init?(url: String, _ head: ResponseHead) {
        guard let validator = Self.validator(of: head) else { return nil }
        self.init(url: Self.plain(url), validator: validator, total: head.total)
    }

    static func validator(of head: ResponseHead) -> String? {
        if let tag = head.headers["ETag"] {
            return tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? tag : nil
        }
        guard let changed = head.headers["Last-Modified"], let date = head.headers["Date"],
            let changedTime = HTTPTime.seconds(changed), let dateTime = HTTPTime.seconds(date),
            dateTime >= changedTime + 60
        else { return nil }
        return changed
    }

    /// Without name, password and fragment.
    package static func plain(_ url: String) -> String {
        let url = url.prefix { $0 != "#" }
        guard let start = url.firstRange(of: "://")?.upperBound else { return String(url) }
        let end = url[start...].unicodeScalars.firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
        guard let at = url[start..<end].unicodeScalars.lastIndex(of: "@") else { return String(url) }
        return String(url[..<start] + url[url.unicodeScalars.index(after: at)...])
    }

    /// Whether a part belongs to the same version of the file: it has the same strong validator (RFC 9110, section 15.3.7.3). Without
    /// one, a server that ignores If-Range would send a part of another version.
    func isValidator(of part: ResponseHead) -> Bool {
        part.headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"] == validator
    }

    /// Whether an answer without content may be of the same version. It need not repeat the validator.
    func mayBeValidator(of head: ResponseHead) -> Bool {
        if let tag = head.headers["ETag"], validator.hasPrefix("\"") { return tag == validator }
        if let changed = head.headers["Last-Modified"], !validator.hasPrefix("\"") { return changed == validator }
        return true
    }
}

extension ResponseHead {
    /// How many bytes the whole file has, as far as this answer says it.
    var total: Int64? {
        if let range = headers["Content-Range"].flatMap(ContentRange.init) {
            switch range {
            case .part(_, _, let total): return total
            case .unsatisfied(let total): return total
            }
        }
        return expectedContentLength
    }
}

/// Dates of HTTP (RFC 9110, section 5.6.7) as seconds since 1970.
enum HTTPTime {
    /// Nil for what is none.
    static func seconds(_ text: String) -> Int64? {
        // A date is what Retry-After may be, too; counted from long ago it is its distance from there.
        guard text.contains(" "), let wait = RetryAfter.wait(text, now: 0) else { return nil }
        return wait.components.seconds
    }
}
