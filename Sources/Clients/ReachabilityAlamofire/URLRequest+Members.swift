public import ReachabilityRequests
public import ReachabilityRetry

/// What adapters use of Foundation's structure.
extension PlainRequest {
    /// The name of the method; nil for GET.
    public var httpMethod: String? {
        get { method.rawValue }
        set { method = RequestMethod(rawValue: newValue ?? "GET") }
    }

    /// The header fields. Setting them replaces all.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(fields.map { HTTPHeader(name: $0.name, value: $0.value) }) }
        set { fields = newValue.map { Field(name: $0.name, value: $0.value) } }
    }

    /// The header fields. Nil removes all.
    public var allHTTPHeaderFields: [String: String]? {
        get { headers.dictionary }
        set { headers = HTTPHeaders(newValue ?? [:]).sorted() }
    }

    /// The value of a header field; nil where there is none.
    public func value(forHTTPHeaderField name: String) -> String? { self[name] }

    /// Sets a header field; nil removes it.
    public mutating func setValue(_ value: String?, forHTTPHeaderField name: String) { self[name] = value }

    /// Adds a value to a header field.
    public mutating func addValue(_ value: String, forHTTPHeaderField name: String) {
        if let place = fields.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) {
            fields[place].value += ",\(value)"
        } else {
            fields.append(Field(name: name, value: value))
        }
    }
}
