public import FoundationEssentials
import LinuxSupport
public import ReachabilityRetry

/// The body as dictionaries, arrays, text, numbers and Boolean values, from JSON; null is `nil` as `Any?`.
///
/// Prefer ``DecodableResponseSerializer``: its values have types.
public struct JSONResponseSerializer: ResponseSerializer {
    /// Changes the body first.
    public let dataPreprocessor: any DataPreprocessor
    /// The statuses of answers that may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose answers may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// A serializer.
    public init(
        dataPreprocessor: any DataPreprocessor = defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = defaultEmptyRequestMethods
    ) {
        self.init(dataPreprocessor, emptyResponseCodes, emptyRequestMethods)
    }

    init(_ preprocessor: any DataPreprocessor, _ codes: Set<Int>, _ methods: Set<HTTPMethod>) {
        (dataPreprocessor, emptyResponseCodes, emptyRequestMethods) = (preprocessor, codes, methods)
    }

    /// The value, `[String: any Sendable]` for an object. It can be cast to `[String: Any]`.
    public func serialize(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> any Sendable {
        guard let content = try content(request, response, data, error) else { return [String: any Sendable]?.none }
        do {
            return try JSONDecoder().decode(LooseValue.self, from: content).value
        } catch {
            let cause = response.map { error.naming(pageOf: $0) } ?? error
            let error = CocoaError(.propertyListReadCorrupt, userInfo: ["NSUnderlyingError": cause])
            throw AFError.responseSerializationFailed(reason: .jsonSerializationFailed(error: error))
        }
    }
}

/// The body as dictionaries, arrays, text, numbers, Boolean values, dates and bytes, from a property list.
///
/// Prefer ``DecodableResponseSerializer`` with a `PropertyListDecoder`: its values have types.
public struct PropertyListResponseSerializer: ResponseSerializer {
    /// A serializer.
    public init() {}

    /// The value, `[String: any Sendable]` for a dictionary. It can be cast to `[String: Any]`.
    ///
    /// The list is binary, or XML in UTF-8. More than 512 levels are an error. More values than bytes are an error, too. A binary list has them
    /// if it refers to the same containers again and again.
    public func serialize(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> any Sendable {
        guard let content = try content(request, response, data, error) else { return [String: any Sendable]?.none }
        do {
            let decoder = PropertyListDecoder()
            decoder.userInfo[LooseValue.limit] = LooseValue.Limit(content.count)
            return try decoder.decodeAnswer(LooseValue.self, from: content).value
        } catch {
            throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
        }
    }
}

extension DataDecoder {
    /// Decodes the bytes of a server.
    func decodeAnswer<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
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
enum PropertyList {
    static let maximumDepth = 512

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

/// A value of any shape.
private struct LooseValue: Decodable {
    /// The key of the limit in the user info of a decoder.
    static let limit = CodingUserInfoKey(rawValue: "limit") ?? { preconditionFailure() }()

    /// The number of values that may still be read.
    final class Limit: Sendable {
        private let rest: Locked<Int>

        init(_ count: Int) { rest = Locked(count) }

        func take() -> Bool {
            rest.withLock { rest in
                rest -= 1
                return rest >= 0
            }
        }
    }

    let value: any Sendable

    init(from decoder: any Decoder) throws {
        // Only for property lists.
        let limit = decoder.userInfo[Self.limit] as? Limit
        guard limit?.take() ?? true, decoder.codingPath.count <= PropertyList.maximumDepth else {
            let context = DecodingError.Context(codingPath: [], debugDescription: "it has too many values or levels")
            throw DecodingError.dataCorrupted(context)
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = String?.none
        } else if let flag = try? container.decode(Bool.self) {
            value = flag
        } else if let number = try? container.decode(Int.self) {
            value = number
        } else if let number = try? container.decode(Double.self) {
            value = number
        } else if let text = try? container.decode(String.self) {
            value = text
        } else if limit != nil, let bytes = try? container.decode(Data.self) {
            value = bytes
        } else if limit != nil, let date = try? container.decode(Date.self) {
            value = date
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [any Sendable] = []
            while !elements.isAtEnd { values.append(try elements.decode(LooseValue.self).value) }
            value = values
        } else {
            value = try container.decode([String: LooseValue].self).mapValues(\.value)
        }
    }
}
