/// The credential, and who waits for another. A value without locks and calls: what is to be done is what its functions return.
struct RefreshState<Credential: AuthenticationCredential>: Sendable {
    /// Called when the refresh has ended.
    typealias Waiting = @Sendable (Result<Void, any Error>) -> Void

    /// What is to be done about a request.
    enum Step {
        /// It is called when the refresh under way has ended.
        case wait
        /// The same, and this refresh is to be made.
        case refresh(Credential, number: Int)
        /// The credential has changed meanwhile.
        case lookAgain
        case use(Credential)
        case missing
    }

    private(set) var credential: Credential?
    /// Changes with the credential.
    private(set) var version = 0
    /// Which refresh is under way; nil for none.
    private var underWay: Int?
    private var refreshes = 0
    /// When refreshes were made, as long as they count.
    private var times: [Duration] = []
    private var waiting: [Waiting] = []

    init(credential: Credential?) { self.credential = credential }

    mutating func set(_ credential: Credential?) {
        self.credential = credential
        version += 1
    }

    /// - Parameters:
    ///   - isOld: Whether the credential of that version wants to be refreshed.
    ///   - again: Called after a refresh.
    mutating func adapt(isOld: Bool, in version: Int, _ again: @escaping Waiting) -> Step {
        if underWay != nil {
            waiting.append(again)
            return .wait
        }
        guard self.version == version else { return .lookAgain }
        guard let credential else { return .missing }
        return isOld ? begin(credential, again) : .use(credential)
    }

    /// After a request with the credential of that version was refused.
    mutating func retry(in version: Int, _ again: @escaping Waiting) -> Step {
        guard self.version == version, let credential else { return .lookAgain }
        guard underWay == nil else {
            waiting.append(again)
            return .wait
        }
        return begin(credential, again)
    }

    private mutating func begin(_ credential: Credential, _ again: @escaping Waiting) -> Step {
        waiting.append(again)
        refreshes += 1
        underWay = refreshes
        return .refresh(credential, number: refreshes)
    }

    /// Whether another refresh may be made, which then counts.
    mutating func mayRefresh(at now: Duration, _ limit: Int?, in window: Duration?) -> Bool {
        guard let limit, let window else { return true }
        times.removeAll { $0 <= now - window }
        guard times.count < limit else { return false }
        times.append(now)
        return true
    }

    /// Takes what a refresh has brought, and returns who is to be told. Only the first end of a refresh counts.
    mutating func finish(_ number: Int, _ result: Result<Credential, any Error>) -> [Waiting] {
        guard underWay == number else { return [] }
        underWay = nil
        if case .success(let credential) = result { set(credential) }
        defer { waiting = [] }
        return waiting
    }
}
