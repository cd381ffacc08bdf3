import NIOHTTP1
import ReachabilityService
import ServerTrust

/// Who may ask, and what that lets them do.
///
/// | Way | Who may read | Who may change something |
/// |---|---|---|
/// | the Unix socket | everybody who may connect | whom ``AdminRule`` lets |
/// | HTTP, over the loopback | every program of this machine | who has a token of the scope `admin` |
/// | HTTPS | who has a token, or a certificate of the authorities | who has a token of the scope `admin` |
struct AccessRules: Sendable {
    /// By which names the service is asked with TLS.
    var hosts: [HostPattern] = []
    var tokens: [AccessSettings.Token] = []

    /// Whether a request may be answered at all.
    ///
    /// - Parameter isPage: Whether a page for people is requested.
    /// - Returns: The token it carries; nil where it carries none and needs none.
    /// - Throws: ``Problem`` with what is wrong.
    func admit(_ request: WebRequest, isPage: Bool = false) throws(Problem) -> AccessSettings.Token? {
        try HostRule.check(request, hosts: hosts, isPage: isPage)
        switch request.way {
        case .local: return nil
        // Until there are tokens, what programs of this machine say there is nobody's business.
        case .loopback where tokens.isEmpty: return nil
        case .loopback, .secured(certificate: .some):
            return try PresentedToken(request.headers).map { presented throws(Problem) in try token(presented) }
        case .secured(certificate: nil): return try token(PresentedToken(request.headers))
        }
    }

    private func token(_ presented: PresentedToken?) throws(Problem) -> AccessSettings.Token {
        if let token = presented?.known(among: tokens) { return token }
        let detail =
            presented == nil
            ? "a token is needed: Authorization: Bearer TOKEN, or as the password of a browser"
            : "there is no such token: `reachability serve token` makes one, for [access] in the configuration"
        let bearer = "Bearer realm=\"reachability\"" + (presented == nil ? "" : ", error=\"invalid_token\"")
        // Browsers ask for a password where Basic is offered.
        let basic = "Basic realm=\"reachability\", charset=\"UTF-8\""
        throw Problem(.unauthorized, detail, headers: [("WWW-Authenticate", bearer), ("WWW-Authenticate", basic)])
    }
}
