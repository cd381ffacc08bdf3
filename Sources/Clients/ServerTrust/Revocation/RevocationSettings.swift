/// How long and how much is waited for, and how long answers count.
public struct RevocationSettings: Hashable, Sendable {
    /// By how much the clocks of responders and this machine may differ.
    public var clockSkew: Duration = .seconds(300)

    /// How old an OCSP response may be that does not say until when it is good. It is never kept.
    public var maximumAgeWithoutNextUpdate: Duration = .seconds(3600)

    /// How long the responders and lists of one evaluation are waited for, all together. It must be shorter than what a client gives an
    /// evaluation, or those who fail softly fail hard.
    public var timeLimit: Duration = .seconds(5)

    /// How long a responder or list is waited for alone, before the next one is asked beside it; if it fails, that is asked at once.
    public var headStart: Duration = .milliseconds(500)

    /// How long a responder or list that did not answer, or not with what can be read, is not asked again where no answer is required
    /// (soft fail): each handshake would else wait for it once more. Zero asks each time. Where an answer is required
    /// (``RevocationFlags/requirePositiveResponse``) it is asked each time.
    public var pauseAfterFailure: Duration = .seconds(60)

    /// The most bytes of an OCSP response, stapled or fetched.
    public var maximumResponseBytes = 64 << 10

    /// The most bytes of a list that is fetched. In memory it takes about twice as much.
    public var maximumListBytes = 8 << 20

    /// How many of the responders, and how many of the lists, that a certificate names are asked in turn.
    public var maximumSources = 2

    /// Whether OCSP requests have a nonce (RFC 9654), so that no old answer can be played again. Many responders ignore it, which is
    /// tolerated; without, requests can be answered from the caches of HTTP (RFC 5019).
    public var usesNonce = true

    /// The most answers of responders that are kept.
    public var cachedAnswers = 1024

    /// The most fetched lists that are kept.
    public var cachedLists = 16

    /// All at their defaults.
    public init() {}
}
