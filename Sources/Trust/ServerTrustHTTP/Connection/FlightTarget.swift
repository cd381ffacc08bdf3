/// Whom a request connects to, and within which limits.
struct FlightTarget: Sendable {
    /// A name or an address.
    let host: String
    let port: Int
    let settings: TrustedHTTPSettings

    init(_ url: TrustedHTTPURL, _ settings: TrustedHTTPSettings) {
        host = settings.proxy?.host ?? url.lookupName
        port = settings.proxy?.port ?? url.port
        self.settings = settings
    }
}
