public import FoundationEssentials
import LinuxSupport

/// What a check of an answer says.
public typealias ValidationResult = Result<Void, any Error>

/// A check of an answer, by a closure: of the request as it was made, the answer, and its body; nil where it goes to a file.
public typealias Validation =
    @Sendable (_ request: OutgoingRequest, _ response: ResponseHead, _ data: Data?) -> ValidationResult

/// A request whose answer can be checked.
public protocol ValidatedRequest: Sendable {
    /// Adds to the checks of its answer, which are asked once for each answer that is not a redirect to be followed. They may be added until
    /// the answer comes.
    @discardableResult func checking(_ change: (inout Validator) -> Void) -> Self
}

extension ValidatedRequest {
    /// Wants a status of 200 to 299, and a type that the request's Accept names; any where it has none.
    @discardableResult
    public func validate() -> Self { checking { $0.addUsual() } }

    /// Wants one of these statuses.
    @discardableResult
    public func validate(statusCode acceptable: some Sequence<Int>) -> Self {
        checking { $0.add(statuses: acceptable) }
    }

    /// Wants one of these types, `text/*` for example.
    @discardableResult
    public func validate(contentType acceptable: [String]) -> Self {
        checking { $0.add(contentTypes: { _ in acceptable }) }
    }

    /// Asks the closure, from a thread of no meaning; without the body where that is not kept in memory.
    @discardableResult
    public func validate(_ check: @escaping Validation) -> Self { checking { $0.add(check) } }
}

/// The checks of one request, in order; the first that refuses counts.
public struct Validator: Sendable {
    private var checks: [Validation] = []
    /// Those of them that go by the head alone.
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
            let reason = RequestError.ResponseValidationFailureReason.unacceptableStatusCode(code: response.statusCode)
            return .failure(RequestError.responseValidationFailed(reason: reason))
        }
    }

    /// An empty body has no type. Where the body is not in memory, the head decides whether there is one.
    mutating func add(contentTypes: @escaping @Sendable (OutgoingRequest) -> [String]) {
        addHead { request, response, data in
            if data?.isEmpty ?? response.hasNoBody { return .success(()) }
            if let reason = Self.refusal(of: response, wanted: contentTypes(request)) {
                return .failure(RequestError.responseValidationFailed(reason: reason))
            }
            return .success(())
        }
    }

    static func refusal(
        of response: ResponseHead,
        wanted: [String]
    ) -> RequestError.ResponseValidationFailureReason? {
        let types = wanted.compactMap { MIMEType($0) }
        guard let type = response.mimeType else {
            return types.contains(where: \.isWildcard) ? nil : .missingContentType(acceptableContentTypes: wanted)
        }
        if types.contains(where: { $0.matches(type) }) { return nil }
        return .unacceptableContentType(acceptableContentTypes: wanted, responseContentType: type.description)
    }

    /// The status is one of 200 to 299, and the type one that the request's Accept names; any where it has none.
    mutating func addUsual() {
        add(statuses: 200..<300)
        add(contentTypes: { request in
            let accepted = request.headers["Accept"]?.split(at: ",").map { $0.trimmingBlanks }
            return accepted ?? ["*/*"]
        })
    }

    /// Whether the head alone is refused: then a closure is not asked, and little of the body is read.
    func refusesHead(_ request: OutgoingRequest, _ response: ResponseHead) -> Bool {
        headChecks.contains { check in
            if case .failure = check(request, response, nil) { true } else { false }
        }
    }

    /// The number of checks.
    var count: Int { checks.count }

    /// Nil where nothing refuses.
    ///
    /// - Parameter asked: The number of checks that were asked before.
    func refusal(
        _ request: OutgoingRequest,
        _ response: ResponseHead,
        _ data: Data?,
        after asked: Int = 0
    ) -> RequestError? {
        for check in checks.dropFirst(asked) {
            guard case .failure(let error) = check(request, response, data) else { continue }
            return error as? RequestError ?? .responseValidationFailed(reason: .customValidationFailed(error: error))
        }
        return nil
    }
}
