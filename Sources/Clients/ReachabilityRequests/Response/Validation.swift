public import FoundationEssentials
import LinuxSupport

/// A validation of a head, and of a body in memory; nil if the body is not in memory.
typealias Validation = @Sendable (URLRequest?, HTTPURLResponse, Data?) -> Request.ValidationResult

extension DataRequest {
    /// A validation of an answer, on any thread.
    public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse, Data?) -> ValidationResult

    /// Validates the answer with a closure. Validations run once for each answer that is not a redirect to be followed. An empty body is
    /// nil.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        validator.withLock { $0.add { validation($0, $1, $2?.isEmpty == true ? nil : $2) } }
        return self
    }
}

extension DataStreamRequest {
    /// A validation of the head of an answer, on any thread.
    public typealias Validation = @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse) -> ValidationResult

    /// Validates the head of the answer with a closure.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        validator.withLock { $0.add { request, response, _ in validation(request, response) } }
        return self
    }
}

extension DownloadRequest {
    /// A validation of an answer and its file, on any thread.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ fileURL: URL?) -> ValidationResult

    /// Validates the answer and the complete file with a closure. A file that is rejected is deleted.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        validateFile { [weak self] path in
            guard let self, let response else { return }
            let file = URL(filePath: path)
            let result = validation(request, response, file)
            didValidate(request, response, file: file, result)
            try result.get()
        }
    }
}

/// Validations by the head of an answer. All requests have them.
extension Request {
    /// Accepts a status of 200 to 299, and the content types of the request's Accept field, or any type without that field.
    @discardableResult
    public func validate() -> Self {
        validator.withLock { $0.addUsual() }
        return self
    }

    /// Accepts these statuses.
    @discardableResult
    public func validate(statusCode acceptableStatusCodes: some Sequence<Int>) -> Self {
        validator.withLock { $0.add(statuses: acceptableStatusCodes) }
        return self
    }

    /// Accepts these content types, for example `text/*`.
    @discardableResult
    public func validate(contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> [String]) -> Self {
        validator.withLock { $0.add(contentTypes: { _ in acceptableContentTypes() }) }
        return self
    }
}

/// The validations of one request in their order. The first rejection counts.
struct Validator: Sendable {
    private var checks: [Validation] = []
    /// The validations that need only the head of the answer.
    private var headChecks: [Validation] = []

    mutating func add(_ check: @escaping Validation) { checks.append(check) }

    private mutating func addHead(_ check: @escaping Validation) {
        headChecks.append(check)
        checks.append(check)
    }

    mutating func add(statuses: some Sequence<Int>) {
        let statuses = Set(statuses)
        addHead { _, response, _ in
            if statuses.contains(response.statusCode) { return .success(()) }
            let reason = AFError.ResponseValidationFailureReason.unacceptableStatusCode(code: response.statusCode)
            return .failure(AFError.responseValidationFailed(reason: reason))
        }
    }

    /// An empty body has no type. If the body is not in memory, the head decides whether there is one.
    mutating func add(contentTypes: @escaping @Sendable (URLRequest?) -> [String]) {
        addHead { request, response, data in
            if data?.isEmpty ?? response.hasNoBody { return .success(()) }
            if let reason = Self.refusal(of: response, wanted: contentTypes(request)) {
                return .failure(AFError.responseValidationFailed(reason: reason))
            }
            return .success(())
        }
    }

    static func refusal(of response: HTTPURLResponse, wanted: [String]) -> AFError.ResponseValidationFailureReason? {
        let types = wanted.compactMap { MIMEType($0) }
        let wanted = wanted.sorted()
        guard let type = response.mediaType else {
            return types.contains(where: \.isWildcard) ? nil : .missingContentType(acceptableContentTypes: wanted)
        }
        if types.contains(where: { $0.matches(type) }) { return nil }
        return .unacceptableContentType(acceptableContentTypes: wanted, responseContentType: type.description)
    }

    /// Accepts a status of 200 to 299, and the content types of the request's Accept field, or any type without that field.
    mutating func addUsual() {
        add(statuses: 200..<300)
        add(contentTypes: { request in
            let accepted = request?.headers["Accept"]?.split(at: ",").map { $0.trimmingBlanks }
            return accepted ?? ["*/*"]
        })
    }

    /// Returns whether the head is rejected. Then closures are not called, and little of the body is read.
    func refusesHead(_ request: URLRequest?, _ response: HTTPURLResponse) -> Bool {
        headChecks.contains { check in
            if case .failure = check(request, response, nil) { true } else { false }
        }
    }

    /// The number of validations.
    var count: Int { checks.count }

    /// Returns the first rejection, or nil.
    ///
    /// - Parameters:
    ///   - count: The number of validations that ran before.
    ///   - report: Receives each result.
    func refusal(
        _ request: URLRequest?,
        _ response: HTTPURLResponse,
        _ data: Data?,
        after count: Int = 0,
        _ report: (Request.ValidationResult) -> Void = { _ in }
    ) -> AFError? {
        for check in checks.dropFirst(count) {
            let result = check(request, response, data)
            report(result)
            guard case .failure(let error) = result else { continue }
            return error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
        }
        return nil
    }
}
