import LinuxSupport

/// What a server calls a file: Content-Disposition (RFC 6266). It is text of a stranger: no file is ever named by it here.
public struct ContentDisposition: Hashable, Sendable {
    /// `attachment` or `inline`, in small letters.
    public let type: String
    /// The name as it was sent; of both forms, that which can hold every letter.
    public let fileName: String?

    /// Reads a value; nil for what is none.
    public init?(_ text: String) {
        var reader = FieldReader(text)
        guard let type = reader.token() else { return nil }
        self.type = type.lowercased()
        var names: [String: String] = [:]
        while let (name, value) = reader.parameter() { if names[name] == nil { names[name] = value } }
        fileName = names["filename*"].flatMap(Self.extended) ?? names["filename"]
    }

    /// What may be a file's name in a directory, and nothing else: the part behind the last `/` and `\`, without leading dots and
    /// without control characters; nil where nothing is left of it.
    public var safeFileName: String? { fileName.flatMap(Self.safe) }

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
        guard let bytes = PercentText.decode(parts[2]) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// RFC 3986, section 2.1.
package enum PercentText {
    /// Nil for a damaged escape.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
