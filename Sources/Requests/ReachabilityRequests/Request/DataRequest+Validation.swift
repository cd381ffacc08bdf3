extension DataRequest {
    /// Wants a status of 200 to 299, and a type that the request's Accept names; any where it has none.
    @discardableResult
    public func validate() -> DataRequest { add { $0.addUsual() } }

    /// Wants one of these statuses.
    @discardableResult
    public func validate(statusCode acceptable: some Sequence<Int>) -> DataRequest {
        add { $0.add(statuses: acceptable) }
    }

    /// Wants one of these types, `text/*` for example.
    @discardableResult
    public func validate(contentType acceptable: [String]) -> DataRequest {
        add { $0.add(contentTypes: { _ in acceptable }) }
    }

    /// Asks the closure, once for each answer that is not a redirect to be followed, from a thread of no meaning.
    @discardableResult
    public func validate(_ check: @escaping Validation) -> DataRequest { add { $0.add(check) } }
}
