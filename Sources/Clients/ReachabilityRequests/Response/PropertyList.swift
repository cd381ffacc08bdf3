package import FoundationEssentials

extension DataDecoder {
    /// Decodes the bytes of a server.
    package func decodeAnswer<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        if self is PropertyListDecoder, !PropertyList.isSafe([UInt8](data)) {
            let context = DecodingError.Context(
                codingPath: [],
                debugDescription: "it is not a property list, or has too many levels"
            )
            throw DecodingError.dataCorrupted(context)
        }
        return try decode(type, from: data)
    }
}

/// Inputs that end the process: `PropertyListDecoder` reads XML recursively without a limit, and traps on some lists in OpenStep's format.
package enum PropertyList {
    package static let maximumDepth = 512

    /// Returns whether the bytes are a binary list, or XML in UTF-8 without too many levels.
    static func isSafe(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: "bplist0".utf8) { return bytes.count > 40 }
        var rest = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes[3...] : bytes[...]
        rest = rest.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        guard rest.first == UInt8(ascii: "<") else { return false }
        var (depth, hasRoot) = (0, false)
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            switch rest.first {
            case UInt8(ascii: "/"): depth = max(0, depth - 1)
            case UInt8(ascii: "?"): skip("?>", in: &rest, after: hasRoot ? 0 : 1)
            case UInt8(ascii: "!") where rest.starts(with: "!--".utf8): skip("-->", in: &rest, after: 3)
            case UInt8(ascii: "!"): skip(hasRoot ? "]]>" : ">", in: &rest, after: 1)
            default:
                hasRoot = true
                // The decoder refuses an element without an end.
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return true }
                if bytes[end - 1] != UInt8(ascii: "/") { depth += 1 }
                if depth > maximumDepth { return false }
                rest = rest[(end + 1)...]
            }
        }
        return true
    }

    private static func skip(_ end: String, in rest: inout ArraySlice<UInt8>, after count: Int) {
        rest = rest.dropFirst(count)
        while !rest.isEmpty, !rest.starts(with: end.utf8) { rest = rest.dropFirst() }
        rest = rest.dropFirst(end.utf8.count)
    }
}
