/// Which part of a file an answer carries: Content-Range (RFC 9110, section 14.4).
enum ContentRange: Hashable, Sendable {
    /// `bytes 0-9/100`, both ends counted; the total is nil for `*`.
    case part(first: Int64, last: Int64, total: Int64?)
    /// `bytes */100`: nothing of it.
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
