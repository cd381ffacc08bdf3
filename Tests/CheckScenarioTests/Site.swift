import WebLab

/// A web server of the world, at every address of its station.
struct Site: Sendable {
    let station: Station
    let port: UInt16
    /// The certificate of the server; nil without TLS.
    let identity: WebIdentity?
    let behaviour: WebBehaviour
    /// The offset of the server's clock.
    let ahead: Duration

    init(
        _ station: Station,
        _ port: UInt16,
        _ behaviour: WebBehaviour,
        _ identity: WebIdentity? = nil,
        ahead: Duration = .zero
    ) {
        (self.station, self.port, self.identity) = (station, port, identity)
        (self.behaviour, self.ahead) = (behaviour, ahead)
    }

    /// Two anchors and a host, all of them working.
    static let usual = anchors() + hosts()

    static let good = WebIdentity.good(for: "anchor.example", "second.example", "host.example", "portal.example")
    /// A certificate for all names, from an authority that is not trusted.
    static let strange = WebIdentity.otherAuthority(for: "anchor.example", "second.example", "host.example")
    static let future = WebIdentity.notYetValid(for: "anchor.example", "second.example", "host.example")

    /// Both anchors, over HTTP and HTTPS.
    static func anchors(
        _ behaviour: WebBehaviour = .anchor,
        _ identity: WebIdentity = good,
        ahead: Duration = .zero
    ) -> [Site] {
        [Site(.internet, 80, behaviour, ahead: ahead), Site(.internet, 443, behaviour, identity, ahead: ahead)]
    }

    /// The host, over HTTP and HTTPS.
    static func hosts(_ behaviour: WebBehaviour = .page("host"), _ identity: WebIdentity = good) -> [Site] {
        [Site(.host, 80, behaviour), Site(.host, 443, behaviour, identity)]
    }
}
